// worker.js -- what remote.js starts: a worker that reads a dataset on a web
// server. Messages are {id, call, args}; answers {id, result} or {id, error}.
import {Dataset, HttpSource} from "./bouma.js";

const OPEN_STEPS = 4; // those used last

let dataset = null;
const steps = new Map();

function stepOf(number) {
    const step = steps.get(number) ?? dataset.openStep(number);
    steps.delete(number);
    steps.set(number, step);
    if (steps.size > OPEN_STEPS) {
        const [oldest] = steps.keys();
        steps.get(oldest).free();
        steps.delete(oldest);
    }
    return step;
}

const calls = {
    open({module, url, listing, options}) {
        dataset = Dataset.open(module, new HttpSource(url, listing, options));
        return {formatVersion: dataset.formatVersion, steps: dataset.steps};
    },
    describe({step: number}) {
        const {step, time, objects} = stepOf(number);
        return {step, time, objects};
    },
    read({step, grid, variable, options}) {
        return stepOf(step).read(grid, variable, options);
    },
    particles({step, name, options}) {
        return stepOf(step).particles(name, options);
    },
};

// Arrays are handed over, not copied.
const buffersOf = result => [result.data, ...(result.columns ?? []).map(column => column.data)]
    .filter(array => array).map(array => array.buffer);

self.onmessage = ({data: {id, call, args}}) => {
    try {
        const result = calls[call](args);
        self.postMessage({id, result}, buffersOf(result));
    } catch ({status, message}) {
        self.postMessage({id, error: {status, message}});
    }
};
