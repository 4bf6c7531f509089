// The sweeps over the graph, and the texts that say what they do.
const hasTangents = DATA.mode !== "reverse", hasAdjoints = DATA.mode !== "forward";

// As number_text in Python: at most `digits` decimals, no zeros nobody reads.
function numberText(x, digits = DATA.digits) {
  if (typeof x === "string") return x;
  x = Number(x);
  if (x !== x) return "nan";
  if (abs(x) === Infinity) return x > 0 ? "inf" : "-inf";
  if (x === 0) return "0";
  if (abs(x) >= 1e6) return scientific(x, digits);
  const fixed = x.toFixed(digits);
  return Number(fixed) === 0 ? scientific(x, 1) : withoutZeros(fixed);
}
function scientific(x, decimals) {
  const [mantissa, exponent] = x.toExponential(decimals).split("e");
  return `${withoutZeros(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
const withoutZeros = text => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

function toNumber(value) {
  return {nan: NaN, inf: Infinity, "-inf": -Infinity}[value] ?? Number(value);
}

// The sweeps, the adjoints they end in, the decisions that fall otherwise at these inputs than when recording, and what
// has a derivative that is not determined here: inputs, of a page without adjoints results.
function evaluated(inputs, direction = hasTangents ? recordedDirection() : {}) {
  const v = forwardSweep(inputs), moved = hasTangents ? tangentSweep(v, direction) : null;
  const sweep = hasAdjoints ? reverseSweep(v) : {seeds: [], records: []}, final = [...sweep.seeds];
  for (const record of sweep.records) final[record.edge.from] = record.soFar;
  for (const node of hasAdjoints ? DATA.nodes : []) final[node.id] ??= DATA.live ? 0 : node.adjoint;
  const guards = DATA.live ? DATA.guards.map((guard, k) => ({...guard, value: PROGRAM.guards[k](v)})) : [];
  const open = !DATA.live ? [] : hasAdjoints ? DATA.nodes.filter(node => node.kind === "input" && isnan(final[node.id]))
    : DATA.results.filter(({id}) => isnan(moved.dots[id] ?? 0));
  return {v, moved, sweep, final, failed: guards.filter(guard => !holds(guard)), open};
}

// A truth value is expected, or the very number that a program was recorded for.
function holds({value, expected}) {
  return typeof expected === "boolean" ? truth(value) === expected : Object.is(Number(value), toNumber(expected));
}

// Evaluate every node at the given inputs. The result is indexed by node id.
function forwardSweep(inputs) {
  const v = [];
  for (const node of DATA.nodes) {
    if (!DATA.live) v[node.id] = node.value;
    else v[node.id] = node.kind === "input" ? inputs[node.id] : Number(PROGRAM.values[node.id](v));
  }
  return v;
}

// Sweep back. A cotangent has a finite part, the coefficient of one infinite unit (null: none), whether anything arrived
// at all (a branch that was not taken hands on nothing, not a zero that infinity could turn into nan), and whether a
// zero out of arithmetic met an infinite slope: then it is in doubt. `ended` says that a slope of 0 ended an infinity,
// as in a norm at 0, and `settled` that a limit was put in.
function reverseSweep(v) {
  if (!DATA.live) return fixedSweep();
  const {seeds, records, totals} = sweepBack(v, settled);
  for (const node of DATA.nodes) addUp(records.filter(record => record.edge.from === node.id), seeds[node.id], totals[node.id]);
  return {seeds, records};
}
function sweepBack(v, settle) {
  const totals = [], records = [], done = new Set(), asRecorded = settle && isRecorded(v);
  for (const {id, seed} of DATA.results) {
    add(totals, id, {finite: toNumber(seed), infinite: null, reached: true, doubt: false});
  }
  const seeds = totals.map(shown);
  const finish = node => {
    if (settle && totals[node.id] && !done.has(node.id)) totals[node.id] = settle(v, node, totals[node.id]);
    done.add(node.id);
    return totals[node.id];
  };
  for (const [node, k] of handedBack()) {
    const edge = node.edges[k], partial = Number(PROGRAM.partials[node.id][k](v)), whole = finish(node);
    const share = whole && times(whole, partial, v[node.id], edge);
    if (share) add(totals, edge.from, share);
    records.push({
      node, k, edge, partial, giver: shown(whole), share: shown(share), nothing: !share || !share.reached,
      vertex: Boolean(share && share.made), limit: asRecorded ? Boolean(edge.limit) : isUnsure(share),
    });
  }
  DATA.nodes.filter(node => node.kind === "input").forEach(finish);
  return {seeds, records, totals};
}
// What has arrived at a node after each share. A single one in doubt is what is missing to the adjoint.
function addUp(records, seed, total) {
  const end = shown(total), unsure = records.filter(record => record.limit);
  if (unsure.length === 1) {
    const others = records.filter(record => record !== unsure[0]).reduce((sum, record) => sum + record.share, seed ?? 0);
    unsure[0].share = end - others;
  }
  let soFar = seed;
  records.forEach((record, k) => {
    Object.assign(record, {had: soFar !== undefined, before: soFar ?? 0});
    const share = record.limit && unsure.length > 1 ? NaN : record.share;
    soFar = k === records.length - 1 ? end : (soFar ?? 0) + share;
    Object.assign(record, {share, total: soFar, soFar, end});
  });
}
function times(whole, partial, out, edge) {
  const {finite, infinite, settled} = whole, reached = whole.reached && !(edge.structural && partial === 0);
  if (!reached) return {finite: 0, infinite: infinite === null ? null : 0, reached, doubt: false};
  const ends = Boolean(infinite) && partial === 0, made = edge.vertex && isinf(partial) && isfinite(out);
  const ended = whole.ended || ends;
  if (made) {
    const all = finite + (infinite ?? 0), doubt = whole.doubt || ends || all === 0;
    return {finite: 0, infinite: all * sign(partial), reached, made, settled, ended, doubt};
  }
  return {
    finite: finite * partial, infinite: infinite === null ? null : infinite * partial, reached, settled, ended,
    doubt: whole.doubt || ends,
  };
}
function add(totals, id, share) {
  const had = totals[id];
  if (!had) totals[id] = share;
  else {
    const infinite = had.infinite === null ? share.infinite : had.infinite + (share.infinite ?? 0);
    const cancelled = Boolean(had.infinite) && Boolean(share.infinite) && infinite === 0;
    totals[id] = {
      finite: had.finite + share.finite, infinite, reached: had.reached || share.reached,
      doubt: had.doubt || share.doubt || cancelled, settled: had.settled || share.settled,
      ended: had.ended || share.ended,
    };
  }
}
const shown = c => (!c ? 0 : c.infinite === null || c.infinite === 0 ? c.finite : c.infinite * Infinity);
const isUnsure = c => Boolean(c) && c.reached && (c.doubt || isnan(shown(c)));

// Pages without formulas carry what was handed on, as texts.
function fixedSweep() {
  const seeds = [], byId = new Map(DATA.nodes.map(node => [node.id, node]));
  for (const node of DATA.nodes) if (node.start !== undefined) seeds[node.id] = node.start;
  const records = handedBack().map(([node, k]) => {
    const edge = node.edges[k];
    return {
      node, k, edge, partial: edge.partial, giver: byId.get(node.id).adjoint, had: edge.before !== undefined,
      before: edge.before ?? "0", share: edge.share, total: edge.total, soFar: edge.so_far ?? edge.total,
      nothing: false, vertex: false, limit: Boolean(edge.limit), end: byId.get(edge.from).adjoint,
    };
  });
  return {seeds, records};
}

// The order of the reverse sweep: nodes from last to first, the operands of each in order; only what the result uses.
function handedBack() {
  const used = new Set(DATA.outputs), order = [];
  for (const node of [...DATA.nodes].reverse()) {
    if (!used.has(node.id)) continue;
    node.edges.forEach((edge, k) => {
      used.add(edge.from);
      order.push([node, k]);
    });
  }
  return order;
}

// A formula with the operands' numbers in place of their names: "v5^2" becomes "(-0.78)^2".
function withNumbers(text, node, v) {
  const names = new Map();
  for (const id of [node.id, ...node.edges.map(edge => edge.from)]) {
    const operand = NODE[id];
    for (const name of [operand.name, operand.label]) if (name) names.set(name, numberText(v[id]));
  }
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length);
  const isWord = c => c !== undefined && /[\p{L}\p{Nd}₀-₉_.]/u.test(c); // x² is the square of x, x₂ another name
  let result = "";
  for (let at = 0; at < text.length; ) {
    const ends = next => !isWord(next) && next !== "(";
    const name = longestFirst.find(n => text.startsWith(n, at) && ends(text[at + n.length]));
    const glued = at > 0 && isWord(text[at - 1]) && !/[0-9.]/.test(text[at - 1]);
    if (!name || glued) {
      result += text[at++];
      continue;
    }
    const number = names.get(name);
    const before = text.slice(0, at).trimEnd(), after = text.slice(at + name.length).trimStart();
    const times = at > 0 && /[0-9]/.test(text[at - 1]) ? "·" : "";
    const raised = /^(\^|\*\*|[²³⁴-⁹⁻])/.test(after) && /^-|e/.test(number);
    const signed = number.startsWith("-") && /[+\-−*·×/@^]$/.test(before + times);
    result += times + (raised || signed ? `(${number})` : number);
    at += name.length;
  }
  return result;
}

// A factor after a dot: sums and signs need brackets; the signs of exponents do not.
function factor(text) {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
    else if (depth === 0 && "+-−".includes(c) && !/(\de|[\^*·×/])\s*$/.test(text.slice(0, at))) return `(${text})`;
  }
  return text;
}
