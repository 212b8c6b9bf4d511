// shaders.ts -- GLSL: how the bricks in the atlas are sampled, marched through and drawn.
//
// Positions u are in samples of level 0, x, y, z; sample i lies at i + 0.5, as pixels do.

/** sampleAt() gives values from 0 to 1 of the ranges that were fetched, of what is drawn and of what
 *  it is coloured by; or -1: none. */
const sampling = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler3D;
precision highp usampler3D;
uniform sampler3D uAtlas;
uniform usampler3D uPages;
uniform sampler2D uMap;
uniform vec3 uShape;
uniform vec3 uAtlasSize;
uniform vec3 uBrick;
uniform vec3 uFirst; // cell of the page table
uniform vec3 uCells;
uniform int uTable;  // level of its cells
uniform bool uNearest;
uniform vec2 uRange; // fetched values to colours: scale, offset
uniform bool uTinted; // another variable gives the colours
uniform vec2 uTintRange;
uniform vec3 uMissing;
uniform vec3 uLow;   // the box that is shown
uniform vec3 uHigh;

struct Place {
    float level;  // of the brick; -1: there is none
    bool hidden;  // nothing in this cell can be seen
    vec3 from;    // the cell, in samples
    vec3 to;
};

vec2 valueOf(vec2 bytes) {
    return max(bytes - 1.0, 0.0) / 254.0;
}

vec2 sampleAt(vec3 u, out Place place) {
    vec3 q = clamp(uNearest ? floor(u) : u - 0.5, vec3(0.0), uShape - 1.0);
    vec3 size = uBrick * exp2(float(uTable));
    vec3 cell = floor(q / size);
    place.from = cell * size + (uNearest ? 0.0 : 0.5);
    place.to = place.from + size;
    vec3 at = cell - uFirst;
    bool inside = all(greaterThanEqual(at, vec3(0.0))) && all(lessThan(at, uCells));
    uvec4 page = inside ? texelFetch(uPages, ivec3(at), 0) : uvec4(0u);
    int level = int(page.w & 127u) - 1;
    place.level = float(level);
    place.hidden = page.w > 127u;
    if (level < 0)
        return vec2(-1.0);
    vec3 brick = uBrick * exp2(place.level);
    vec3 local = (q - floor(q / brick) * brick) / exp2(place.level);
    vec3 slot = vec3(page.xyz) * (uBrick + 1.0) + (uNearest ? floor(local) : local);
    vec2 nearest = texelFetch(uAtlas, ivec3(slot + 0.5), 0).rg * 255.0;
    vec2 bytes = uNearest ? nearest : texture(uAtlas, (slot + 0.5) / uAtlasSize).rg * 255.0;
    return mix(valueOf(bytes), vec2(-1.0), lessThan(nearest, vec2(0.5)));
}

float whereIn(float value, vec2 range) {
    return (clamp(value * range.x + range.y, 0.0, 1.0) * 255.0 + 0.5) / 256.0;
}

vec4 colourAt(vec2 value) {
    vec4 c = texture(uMap, vec2(whereIn(value.x, uRange), 0.5));
    if (uTinted)
        c.rgb = value.y < 0.0 ? uMissing : texture(uMap, vec2(whereIn(value.y, uTintRange), 0.5)).rgb;
    return c;
}
`;

export const boxVertex = /* glsl */ `
out vec3 vPosition; // in the world
void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    vPosition = world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
}
`;

export const marchFragment = /* glsl */ `
${sampling}
in vec3 vPosition;
out vec4 colour;
uniform vec3 uScale;  // the world is u * scale + offset
uniform vec3 uOffset;
uniform vec3 uEye;
uniform vec3 uForward;
uniform bool uFlat;
uniform int uMode;    // 0: opacities, 1: maximum, 2: isosurface
uniform float uStep;  // samples
uniform float uIso;   // of the range that was fetched
uniform float uDense; // opacities are those of so many samples
uniform vec3 uLight;
uniform sampler2D uDepth;
uniform vec2 uPixels;
uniform mat4 uInverse; // clip space to world

float noise(vec2 p) {
    return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715))));
}

vec3 slope(vec3 u, float level) {
    float h = exp2(max(level, 0.0)) * 1.5;
    vec3 g;
    Place place;
    for (int i = 0; i < 3; i++) {
        vec3 e = vec3(i == 0, i == 1, i == 2) * h;
        float a = sampleAt(u + e, place).x, b = sampleAt(u - e, place).x;
        g[i] = a < 0.0 || b < 0.0 ? 0.0 : a - b;
    }
    return g / uScale;
}

vec3 shade(vec3 base, vec3 u, float level, vec3 ray) {
    vec3 g = slope(u, level);
    if (dot(g, g) < 1e-12)
        return base;
    vec3 n = normalize(g);
    if (dot(n, ray) > 0.0)
        n = -n;
    vec3 light = normalize(uLight);
    float diffuse = max(dot(n, light), 0.0);
    float shine = pow(max(dot(reflect(-light, n), -ray), 0.0), 24.0);
    return base * (0.5 + 0.6 * diffuse) + vec3(0.15 * shine);
}

void main() {
    vec3 ray = uFlat ? uForward : normalize(vPosition - uEye);
    vec3 start = uFlat ? vPosition - uForward * 100.0 : uEye;
    vec3 o = (start - uOffset) / uScale, d = ray / uScale;
    float speed = max(max(abs(d.x), abs(d.y)), abs(d.z));
    d /= speed; // one sample along the main axis for t = 1
    vec3 safe = mix(d, vec3(1e-9), lessThan(abs(d), vec3(1e-9)));
    vec3 t0 = (uLow - o) / safe, t1 = (uHigh - o) / safe;
    vec3 a = min(t0, t1), b = max(t0, t1);
    float t = max(max(max(a.x, a.y), a.z), 0.0), end = min(min(b.x, b.y), b.z);

    vec2 at = gl_FragCoord.xy / uPixels;
    float depth = texture(uDepth, at).r;
    if (depth < 1.0) { // something solid ends the ray
        vec4 world = uInverse * vec4(vec3(at, depth) * 2.0 - 1.0, 1.0);
        end = min(end, dot(world.xyz / world.w - start, ray) * speed);
    }

    colour = vec4(0.0);
    Place place;
    vec2 best = vec2(-1.0);
    float last = -1.0, lastT = t;
    // Steps lie in the middle of samples: a view along an axis meets each one exactly once.
    float first = uNearest || uMode == 1 ? 0.5 : uMode == 2 ? 0.0 : noise(gl_FragCoord.xy);
    sampleAt(o + d * (t + 0.01), place);
    t += first * uStep * exp2(max(place.level, 0.0));
    for (int i = 0; i < 16384 && t < end; i++) {
        vec3 u = o + d * t;
        vec2 value = sampleAt(u, place);
        float width = uStep * exp2(max(place.level, 0.0));
        bool skips = place.level < 0.0 || (place.hidden && uMode != 1);
        if (uMode == 1) {
            if (value.x > best.x)
                best = value;
        } else if (uMode == 2) {
            // A surface can end at the wall of a cell without any: its first sample counts, too.
            if (value.x >= 0.0 && last >= 0.0 && (value.x - uIso) * (last - uIso) <= 0.0 && value.x != last) {
                float low = lastT, high = t;
                Place p;
                for (int j = 0; j < 6; j++) {
                    float middle = 0.5 * (low + high);
                    if ((sampleAt(o + d * middle, p).x - uIso) * (last - uIso) > 0.0) low = middle; else high = middle;
                }
                vec3 hit = o + d * high;
                vec2 there = vec2(uIso, sampleAt(hit, p).y);
                colour = vec4(shade(colourAt(there).rgb, hit, place.level, ray), 1.0);
                return;
            }
            last = skips ? -1.0 : value.x;
            lastT = t;
        } else if (value.x >= 0.0 && !skips) {
            vec4 c = colourAt(value);
            if (c.a > 0.0) {
                float alpha = 1.0 - pow(1.0 - min(c.a, 0.999), width / uDense);
                vec3 lit = alpha > 0.004 ? shade(c.rgb, u, place.level, ray) : c.rgb;
                colour += (1.0 - colour.a) * alpha * vec4(lit, 1.0);
                if (colour.a > 0.98)
                    break;
            }
        }
        if (skips) { // to the wall of the cell; a surface may begin just there
            vec3 walls = (mix(place.from, place.to, greaterThan(safe, vec3(0.0))) - o) / safe;
            float wall = min(min(walls.x, walls.y), walls.z);
            if (uMode == 2)
                t = wall > t ? wall + 0.01 : t + width;
            else
                t += width * max(ceil((wall - t) / width), 1.0);
        } else {
            t += width;
        }
    }
    if (uMode == 1 && best.x >= 0.0)
        colour = vec4(colourAt(best).rgb, 1.0);
}
`;

export const sliceFragment = /* glsl */ `
${sampling}
in vec3 vPosition;
out vec4 colour;
uniform vec3 uScale;
uniform vec3 uOffset;
void main() {
    Place place;
    vec2 value = sampleAt((vPosition - uOffset) / uScale, place);
    if (place.level < 0.0)
        discard;
    colour = vec4(value.x < 0.0 ? uMissing : colourAt(value).rgb, 1.0);
}
`;

export const pointVertex = /* glsl */ `
in float value;
uniform float uSize; // pixels at distance 1, or everywhere
uniform bool uFlat;
uniform vec2 uRange;
uniform float uLeast;
out float vWhere;
void main() {
    vec4 eye = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * eye;
    gl_PointSize = clamp(uFlat ? uSize : uSize / max(-eye.z, 1e-3), uLeast, 64.0);
    vWhere = clamp((value - uRange.x) / (uRange.y - uRange.x), 0.0, 1.0);
}
`;

export const pointFragment = /* glsl */ `
precision highp float;
uniform sampler2D uMap;
in float vWhere;
out vec4 colour;
void main() {
    vec2 p = gl_PointCoord * 2.0 - 1.0;
    float r = dot(p, p);
    if (r > 1.0)
        discard;
    vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r));
    vec3 base = texture(uMap, vec2((vWhere * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    colour = vec4(base * (0.45 + 0.6 * max(dot(n, normalize(vec3(0.4, 0.6, 0.7))), 0.0)), 1.0);
}
`;

export const wholeVertex = /* glsl */ `
out vec2 vAt;
void main() {
    vAt = uv;
    gl_Position = vec4(position.xy, 0.0, 1.0);
}
`;

/** What is solid, and the volume over it. */
export const composeFragment = /* glsl */ `
precision highp float;
uniform sampler2D uSolid;
uniform sampler2D uVolume;
uniform bool uHasVolume;
in vec2 vAt;
out vec4 colour;
void main() {
    vec4 solid = texture(uSolid, vAt);
    vec4 front = uHasVolume ? texture(uVolume, vAt) : vec4(0.0);
    colour = vec4(front.rgb + solid.rgb * (1.0 - front.a), 1.0);
}
`;
