// Elements, numbers and colours.
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const find = id => document.getElementById(id);
const {abs, ceil, floor, log10, max, min, round} = Math;

function make(tag, attributes = {}, ...children) {
  const inSvg = ["svg", "g", "rect", "text", "path", "circle", "line", "clipPath"].includes(tag);
  const element = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const toNumber = x => (typeof x === "number" ? x : {nan: NaN, inf: Infinity, "-inf": -Infinity}[x]);
const clamp = (x, low, high) => max(low, min(high, x));

// A number with four digits, as in 0.01234, 123.4, 12,345 and 1.2e-7.
function numberText(x, digits = 4) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (x === 0) return "0";
  const size = abs(x);
  if (size < 1e-4 || size >= 1e6) return x.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
  if (size >= 10 ** digits) return round(x).toLocaleString("en");
  return String(Number(x.toPrecision(digits)));
}

// The smallest step of 1, 2, 5, 10, ... that gives at most so many.
function niceStep(span, most) {
  const least = span / most, ten = 10 ** floor(log10(least));
  return [1, 2, 5, 10].map(k => k * ten).find(step => step >= least * (1 - 1e-9));
}
function ticks(low, high, most) {
  const step = niceStep(high - low, most), found = [];
  for (let k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  const digits = max(0, -floor(log10(step) + 1e-9));
  const text = x => (abs(x) >= 1e5 || (digits > 5 && x !== 0) ? numberText(x, 3) : x.toFixed(digits));
  return found.map(x => [x, text(abs(x) < step / 1e6 ? 0 : x)]);
}
// Powers of ten, as many as there is room for; 2 and 5 times them where there are few.
function logTicks(low, high, most) {
  const first = log10(low), last = log10(high), every = max(1, ceil((last - first) / most)), found = [];
  const times = last - first < 1 ? [1, 2, 3, 5, 7] : last - first < 2.5 ? [1, 2, 5] : [1];
  for (let k = floor(first); k <= ceil(last); k++) {
    if (k % every) continue;
    for (const m of times) {
      const x = Number(`${m}e${k}`);
      if (x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9)) found.push([x, numberText(x, 3)]);
    }
  }
  return found;
}

// A colour of the style as [red, green, blue].
function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim().slice(1);
  const full = text.length === 3 ? [...text].map(c => c + c).join("") : text;
  return [0, 2, 4].map(k => parseInt(full.slice(k, k + 2), 16));
}
const mix = (a, b, t) => a.map((x, k) => round(x + (b[k] - x) * t));

// Blue for -1, nothing for 0, orange for 1: 255 colours, each as one number for a picture's pixel.
const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
function diverging() {
  const stops = ["low", "low-half", "zero", "high-half", "high"].map(colour);
  return Uint32Array.from({length: 255}, (_, k) => {
    const at = k / 254 * 4, from = min(3, floor(at));
    return pixel(mix(stops[from], stops[from + 1], at - from));
  });
}
// The colour of a layer, by its place between the input and the output.
function depthColour(k, count) {
  const t = count > 1 ? 2 * k / (count - 1) : 0, [a, b] = t < 1 ? ["first", "middle"] : ["middle", "last"];
  return `color-mix(in oklab, var(--${a}), var(--${b}) ${round(100 * (t < 1 ? t : t - 1))}%)`;
}
const epochName = epoch => (epoch === 0 ? "before training" : `epoch ${epoch.toLocaleString("en")}`);
