// read_all.js -- all that a dataset has, as lines of text: what was asked, and
// the SHA-256 of what came. 'run' is a RemoteDataset, or looks like one.
async function digest(array) {
    const hash = await crypto.subtle.digest("SHA-256", array);
    return [...new Uint8Array(hash)].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

async function attempt(what, body) {
    try {
        return `${what}: ${await body()}`;
    } catch (error) {
        return `${what}: ${error.status}`;
    }
}

function reads(run, step, object) {
    if (object.kind === "particles")
        return [0.1, 1].map(quality => attempt(`${step} ${object.name} ${quality}`, async () => {
            const {count, columns} = await run.particles(step, object.name, {quality});
            return `${count} ${await Promise.all(columns.map(column => digest(column.data)))}`;
        }));
    return object.variables.flatMap(variable => Array.from({length: object.levels}, (_, level) =>
        attempt(`${step} ${object.name}/${variable.name} ${level}`, async () => {
            const {shape, data} = await run.read(step, object.name, variable.name, {level});
            return `${shape} ${await digest(data)}`;
        })));
}

/** Everything is asked for at once, and answers are in order. */
export async function readAll(run) {
    const lines = await Promise.all(run.steps.map(async ({step}) => {
        const {objects} = await run.describe(step);
        return Promise.all(objects.flatMap(object => reads(run, step, object)));
    }));
    return lines.flat();
}
