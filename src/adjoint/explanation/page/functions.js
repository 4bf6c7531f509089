// The functions that a page's formulas may call: NumPy's and SciPy's, for single numbers, to about 1e-13.
const {
  abs, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, ceil, cos, cosh, exp, expm1, floor, hypot, log, log10, log1p,
  log2, max, min, pow, sign, sin, sinh, sqrt, tan, tanh, trunc, PI, E, LN2, LN10, LOG2E, LOG10E, SQRT2, SQRT1_2,
} = Math;

// JavaScript has no number for 1**nan, 1**inf and (-1)**inf; C and NumPy say 1.
function power(x, y) {
  if (x === 1 || (x === -1 && abs(y) === Infinity)) return 1;
  return pow(x, y);
}
const square = x => x * x;
const reciprocal = x => 1 / x;
const negative = x => -x;
const exp2 = x => power(2, x);

// nan counts as true, as in NumPy; and truth values count as 0 and 1.
const truth = x => Number(x) !== 0;
const equal = (x, y) => Number(x) === Number(y);
const not_equal = (x, y) => Number(x) !== Number(y);
const logical_and = (x, y) => truth(x) && truth(y);
const logical_or = (x, y) => truth(x) || truth(y);
const logical_xor = (x, y) => truth(x) !== truth(y);
const logical_not = x => !truth(x);
const where = (condition, yes, no) => (truth(condition) ? yes : no);
// Towards zero, and -0 is 0. Beyond 2**53 not every whole number is there.
const whole = x => (abs(x) <= Number.MAX_SAFE_INTEGER ? trunc(x) + 0 : NaN);
const maximum = (x, y) => max(x, y);
const minimum = (x, y) => min(x, y);
const fmax = (x, y) => (x !== x ? y : y !== y ? x : max(x, y));
const fmin = (x, y) => (x !== x ? y : y !== y ? x : min(x, y));
const clip = (x, low, high) => min(max(x, low), high);
const heaviside = (x, atZero) => (x !== x ? x : x < 0 ? 0 : x > 0 ? 1 : atZero);
const signbit = x => x < 0 || Object.is(x, -0);
const copysign = (x, y) => (signbit(y) ? -abs(x) : abs(x));
const isnan = x => x !== x;
const isinf = x => abs(x) === Infinity;
const isfinite = x => Number.isFinite(x);

// Halves go to the even neighbour; adding and taking away 2**52 would lose the sign of a zero.
function rint(x) {
  if (!(abs(x) < 4503599627370496)) return x;
  const below = floor(x), rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
const fmod = (x, y) => x % y;
function remainder(x, y) {
  const rest = x % y;
  if (rest === 0) return copysign(0, y);
  return rest < 0 !== y < 0 ? rest + y : rest;
}
const floor_divide = (x, y) => (y === 0 ? x / y : floor((x - remainder(x, y)) / y + 0.5));

function sigmoid(x) {
  if (x >= 0) return 1 / (1 + exp(-x));
  const small = exp(x);
  return small / (1 + small);
}
function logaddexp(x, y) {
  if (x === y) return x + LN2;
  return max(x, y) + log1p(exp(-abs(x - y)));
}
const logaddexp2 = (x, y) => logaddexp(x * LN2, y * LN2) / LN2;
const softplus = x => logaddexp(0, x);
const log_expit = x => -softplus(-x);
const xlogy = (x, y) => (x === 0 && y === y ? 0 : x * log(y));
const xlog1py = (x, y) => (x === 0 && y === y ? 0 : x * log1p(y));
function sinc(x) {
  if (x === 0) return 1;
  return sin(PI * x) / (PI * x);
}

// Near 0 a series whose terms all have one sign; further out a continued fraction, for the tail's own digits.
const SQRT_PI = sqrt(PI);
const TAIL_FROM = 2;
function erf(x) {
  if (x !== x) return x;
  return abs(x) < TAIL_FROM ? erfSeries(x) : sign(x) * (1 - erfcTail(abs(x)));
}
function erfc(x) {
  if (x !== x) return x;
  if (x >= TAIL_FROM) return erfcTail(x);
  return x <= -TAIL_FROM ? 2 - erfcTail(-x) : 1 - erfSeries(x);
}
function erfSeries(x) {
  let term = x, sum = x;
  for (let n = 1; abs(term) > 1e-17 * abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / SQRT_PI) * exp(-x * x) * sum;
}
function erfcTail(x) {
  if (x > 27.3) return 0;
  let fraction = x;
  for (let n = 120; n > 0; n--) fraction = x + n / 2 / fraction;
  return exp(-x * x) / fraction / SQRT_PI;
}

// Between 1 and 2 Lanczos' sum (g = 7, nine terms); elsewhere gamma(x + 1) = x gamma(x).
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
function gamma(x) {
  if (x === 0) return 1 / x;
  if (x !== x || x === -Infinity || (x < 0 && x === floor(x))) return NaN;
  if (x > 171.7) return Infinity;
  if (x < -184) return 0 * (floor(x) % 2 ? -1 : 1);
  let factor = 1, divisor = 1;
  while (x > 2) factor *= --x;
  while (x < 1) divisor *= x++;
  return (factor / divisor) * (x === 1 || x === 2 ? 1 : lanczos(x - 1));
}
function lanczos(x) {
  let sum = LANCZOS[0];
  for (let k = 1; k < LANCZOS.length; k++) sum += LANCZOS[k] / (x + k);
  const t = x + 7.5;
  return sqrt(2 * PI) * pow(t, x + 0.5) * exp(-t) * sum;
}

// From 12 on Stirling's series; below, the same recurrence. Negative arguments by reflection.
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];
function gammaln(x) {
  if (x !== x) return x;
  if (abs(x) === Infinity || (x <= 0 && x === floor(x))) return Infinity;
  if (x < 0.5) return log(PI / abs(sinPi(x))) - gammaln(1 - x);
  if (x <= 3) return log(gamma(x));
  let shift = 1;
  while (x < 12) shift *= x++;
  let sum = 0;
  for (let k = STIRLING.length - 1; k >= 0; k--) sum = sum / (x * x) + STIRLING[k];
  return (x - 0.5) * log(x) - x + log(2 * PI) / 2 + sum / x - log(shift);
}
const BERNOULLI = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160];
function digamma(x) {
  if (x === 0) return -1 / x;
  if (x !== x || x === Infinity) return x;
  if (x < 0) return x === floor(x) ? NaN : digamma(1 - x) - PI / tanPi(x);
  let sum = 0;
  while (x < 12) sum -= 1 / x++;
  let series = 0;
  for (let k = BERNOULLI.length - 1; k >= 0; k--) series = series / (x * x) + BERNOULLI[k];
  return sum + log(x) - 0.5 / x - series / (x * x);
}
// The multiple of pi is taken off before multiplying, so that large arguments keep their digits.
const sinPi = x => (rint(x) % 2 ? -1 : 1) * sin(PI * (x - rint(x)));
const tanPi = x => tan(PI * (x - rint(x)));
