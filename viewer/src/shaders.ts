// shaders.ts -- GLSL: how the bricks in the atlas are sampled, marched through and drawn.
//
// Positions u are in samples of level 0, x, y, z; sample i lies at i + 0.5, as pixels do.

/** sampleAt() gives a value from 0 to 1 of the range that was fetched, or -1: none. */
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
uniform float uBrick;
uniform bool uNearest;
uniform vec2 uRange; // fetched values to colours: scale, offset
uniform vec3 uLow;   // the box that is shown
uniform vec3 uHigh;

float sampleAt(vec3 u, out float level) {
    vec3 q = clamp(uNearest ? floor(u) : u - 0.5, vec3(0.0), uShape - 1.0);
    ivec3 cell = ivec3(q) / int(uBrick);
    uvec4 page = texelFetch(uPages, cell, 0);
    level = float(page.w) - 1.0;
    if (page.w == 0u)
        return -1.0;
    int k = int(page.w) - 1;
    vec3 local = (q - vec3((cell >> k) << k) * uBrick) / exp2(level);
    vec3 at = vec3(page.xyz) * (uBrick + 1.0) + (uNearest ? floor(local) : local);
    float nearest = texelFetch(uAtlas, ivec3(at + 0.5), 0).r * 255.0;
    if (nearest < 0.5)
        return -1.0;
    float value = uNearest ? nearest : texture(uAtlas, (at + 0.5) / uAtlasSize).r * 255.0;
    return max(value - 1.0, 0.0) / 254.0;
}

vec4 colourAt(float value) {
    float where = clamp(value * uRange.x + uRange.y, 0.0, 1.0);
    return texture(uMap, vec2((where * 255.0 + 0.5) / 256.0, 0.5));
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
    float l;
    for (int i = 0; i < 3; i++) {
        vec3 e = vec3(i == 0, i == 1, i == 2) * h;
        float a = sampleAt(u + e, l), b = sampleAt(u - e, l);
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
    float level = 0.0, best = -1.0, last = -1.0, lastT = t;
    // Steps lie in the middle of samples: a view along an axis meets each one exactly once.
    float first = uNearest || uMode == 1 ? 0.5 : uMode == 2 ? 0.0 : noise(gl_FragCoord.xy);
    float width = uStep;
    sampleAt(o + d * (t + 0.01), level);
    t += first * uStep * exp2(max(level, 0.0));
    for (int i = 0; i < 4096 && t < end; i++) {
        vec3 u = o + d * t;
        float value = sampleAt(u, level);
        width = uStep * exp2(max(level, 0.0));
        if (uMode == 1) {
            best = max(best, value);
        } else if (uMode == 2) {
            if (value >= 0.0 && last >= 0.0 && (value - uIso) * (last - uIso) <= 0.0 && value != last) {
                float low = lastT, high = t, l;
                for (int j = 0; j < 6; j++) {
                    float middle = 0.5 * (low + high);
                    if ((sampleAt(o + d * middle, l) - uIso) * (last - uIso) > 0.0) low = middle; else high = middle;
                }
                vec3 hit = o + d * high;
                colour = vec4(shade(colourAt(uIso).rgb, hit, level, ray), 1.0);
                return;
            }
            last = value;
            lastT = t;
        } else if (value >= 0.0) {
            vec4 c = colourAt(value);
            if (c.a > 0.0) {
                float alpha = 1.0 - pow(1.0 - min(c.a, 0.999), width / uDense);
                vec3 lit = alpha > 0.004 ? shade(c.rgb, u, level, ray) : c.rgb;
                colour += (1.0 - colour.a) * alpha * vec4(lit, 1.0);
                if (colour.a > 0.98)
                    break;
            }
        }
        t += width;
    }
    if (uMode == 1 && best >= 0.0)
        colour = vec4(colourAt(best).rgb, 1.0);
}
`;

export const sliceFragment = /* glsl */ `
${sampling}
in vec3 vPosition;
out vec4 colour;
uniform vec3 uScale;
uniform vec3 uOffset;
uniform vec4 uPlane; // which axis, and the index of the sample
uniform vec3 uMissing;
void main() {
    vec3 u = (vPosition - uOffset) / uScale;
    u = mix(u, vec3(uPlane.w + 0.5), uPlane.xyz);
    if (any(lessThan(u, uLow)) || any(greaterThan(u, uHigh)))
        discard;
    float level;
    float value = sampleAt(u, level);
    if (level < 0.0)
        discard;
    colour = vec4(value < 0.0 ? uMissing : colourAt(value).rgb, 1.0);
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
