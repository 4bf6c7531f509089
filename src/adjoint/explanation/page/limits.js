// Derivatives where the steps give 0 · ∞. At the recorded inputs they are what Python found. At others the slopes at
// points nearby decide, if they agree and nothing speaks against them; else the derivative is NaN, and the page says so.
const DISTANCES = [2 ** -20, 2 ** -24, 2 ** -28];
const RATIO = 16; // of one distance to the next
const isRecorded = v => DATA.nodes.every(n => n.kind !== "input" || Object.is(v[n.id], toNumber(n.value)));

// The adjoint of a node as a cotangent without doubt: known, found, or NaN.
function settled(v, node, whole) {
  if (node.recorded !== undefined && isRecorded(v)) return certain(toNumber(node.recorded));
  const isNoNumber = node.kind === "input" && DATA.results.some(({id}) => isnan(v[id]));
  if (isNoNumber && abs(shown(whole)) === Infinity) return certain(NaN); // it has no sign
  const asks = isUnsure(whole) || (whole.settled && node.kind === "input"); // a chain of limits need not be one
  return asks ? {...certain(limitAt(v, node, whole)), ended: whole.ended} : whole;
}
function certain(x) {
  const isInfinite = abs(x) === Infinity;
  return {finite: isInfinite ? 0 : x, infinite: isInfinite ? sign(x) : null, reached: true, doubt: false, settled: true};
}

// All inputs move together, so that nothing counts that depends on the direction; of other nodes one alone.
function limitAt(v, node, whole) {
  if (!DATA.results.every(({id}) => isfinite(v[id]))) return NaN;
  const moving = node.kind === "input" ? DATA.nodes.filter(n => n.kind === "input") : [node];
  const found = (moving.length > 1 ? [0, 1] : [0]).map(turn => {
    const along = side => ofSide(v, node, moving, DISTANCES.map(h => movedBy(v, node, moving, side * h, turn)));
    return ofSides(along(1), along(-1), whole);
  });
  return found.every(x => isSame(x, found[0])) ? found[0] : NaN;
}
function movedBy(v, node, moving, step, turn) {
  const w = [...v];
  moving.forEach((n, k) => { w[n.id] += step * (1 + ((k * (0.618 + 0.155 * turn)) % 1)) * (abs(v[n.id]) || 1); });
  for (const n of DATA.nodes) {
    if (n.kind !== "input" && (node.kind === "input" || n.id > node.id)) w[n.id] = Number(PROGRAM.values[n.id](w));
  }
  return w;
}

// At a kink the documented slope counts, if it is the mean of both sides. A side outside of the domain is null; what is
// left need not be the documented slope then, if there may be a kink.
function ofSides(one, other, whole) {
  if (one === null || other === null) return whole.ended ? NaN : one ?? other ?? NaN;
  if (isSame(one, other)) return isfinite(one) ? (one + other) / 2 : one;
  const careful = shown(whole);
  return abs((one + other) / 2 - careful) <= 1e-9 * (abs(one) + abs(other)) ? careful : NaN;
}
// The limit of the slopes at three points of one side: the number that they come closer to in proportion to the
// distance, or the end of a pure power of it.
function ofSide(v, node, moving, points) {
  if (points.every(w => DATA.results.some(({id}) => isnan(w[id])))) return null;
  if (!isContinuous(v, points)) return NaN;
  const [far, near, close] = points.map(w => slopeNear(v, node, moving, w));
  const first = (RATIO * near - far) / (RATIO - 1), second = (RATIO * close - near) / (RATIO - 1);
  if (far === second && near === second) return second;
  if (abs(far - near) <= 1e-4 * abs(second) && isSame(first, second)) return Number(second.toPrecision(12));
  const power = near / far;
  if (!(abs(close / near - power) <= 1e-5 * power)) return NaN;
  return power <= 0.5 ? 0 : power >= 2 ? sign(close) * Infinity : NaN;
}
function slopeNear(v, node, moving, w) {
  const totals = sweepBack(w, null).totals, slope = n => (isUnsure(totals[n.id]) ? NaN : shown(totals[n.id]));
  const change = DATA.results.reduce((s, {id, seed}) => s + toNumber(seed) * (w[id] - v[id]), 0);
  const most = moving.reduce((s, n) => s + abs(slope(n) * (w[n.id] - v[n.id])), 0);
  const size = DATA.results.reduce((s, {id, seed}) => s + abs(toNumber(seed) * v[id]), 0);
  return abs(change) <= RATIO * most + 1e-12 * size ? slope(node) : NaN; // else the result jumps
}
// Whether no local partial jumps on the way to the point: then all branches, maxima and signs are the same there.
function isContinuous(v, [far, , close]) {
  return DATA.nodes.every(n => n.edges.every((_, k) => {
    const partial = PROGRAM.partials[n.id][k], here = Number(partial(v));
    const [before, after] = [far, close].map(w => abs(partial(w) - here));
    return !isfinite(here) || after <= 1e-12 * abs(here) || after <= 0.7 * before;
  }));
}
const isSame = (x, y) => x === y || (isfinite(x) && abs(x - y) <= 1e-9 * max(abs(x), abs(y)));
