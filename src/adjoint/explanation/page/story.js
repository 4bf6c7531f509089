// The steps of the page, and what is said at each of them.
const MOST_LINES = 8;
const NUDGE = 0.01;
const NODE = {};
DATA.nodes.forEach(node => { NODE[node.id] = node; });
const INPUTS = DATA.nodes.filter(node => node.kind === "input");
const STEPS = DATA.nodes.filter(node => node.kind !== "input");
const HANDED = hasAdjoints ? handedBack() : [];
const RESULT = DATA.result;
const nameOf = id => NODE[id].shown;
const targetOf = edge => edge.target ?? nameOf(edge.from);
// What is returned: "L = v9"; where the program has the result's own name for it, that alone
const RESULTS = DATA.results.map(result => {
  const {name, called} = result;
  return {...result, text: name === called ? name : `${name} = ${called}`};
});

// start, one step per node, the seed, one step per edge of the sweep back, the end; tangents go along with the values
const TIMELINE = [
  {kind: "start", phase: "start"},
  ...STEPS.map((node, k) => ({kind: "forward", phase: "forward", node, number: k + 1})),
  ...(hasAdjoints ? [{kind: "seed", phase: "reverse"}] : []),
  ...HANDED.map(([node, k], index) => ({kind: "reverse", phase: "reverse", node, edge: node.edges[k], index})),
  {kind: "done", phase: "done"},
];
const SEED_AT = STEPS.length + 1; // on a page without adjoints the end
const lastTo = new Map(HANDED.map(([node, k], index) => [node.edges[k].from, index]));

function listed(items, most = 6) {
  const few = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  return few.length < 2 ? few.join("") : `${few.slice(0, -1).join(", ")} and ${few[few.length - 1]}`;
}
const partialName = (node, edge) => `∂${nameOf(node.id)}/∂${targetOf(edge)}`;
const nodeText = (node, v) => numberText(v[node.id]);

// What to show at a step: a heading, a chain of equal things, a sentence, and the partials that matter.
function describe(moment, state) {
  const end = hasAdjoints ? sayDone : sayTangents;
  const say = {start: sayStart, forward: sayForward, seed: saySeed, reverse: sayReverse, done: end};
  return say[moment.kind](moment, state);
}

function sayStart(_, {v, moved}) {
  const all = INPUTS.map(node => [node.label || node.name, nodeText(node, v)]);
  const isOne = all.length === 1, steps = STEPS.length === 1 ? "one step" : `${STEPS.length} steps`;
  return {
    phase: "Start: the inputs", partials: [],
    lines: [all, hasTangents ? directionOf(moved) : []].flatMap(pairs => pairs.slice(0, MOST_LINES)),
    sentence: `${isOne ? "The input is" : "The inputs are"} given: ${listed(all.map(pair => pair.join(" = ")))}. ` +
      `${hasTangents ? sayDirection(moved) : ""}The forward sweep computes ${steps} from ${isOne ? "it" : "them"}, one after the ` +
      `other${hasTangents ? ", and the tangent of each" : ""}.`,
  };
}
function sayForward({node, number}, {v, moved}) {
  const name = nameOf(node.id), value = nodeText(node, v);
  const operands = [...new Set(node.edges.map(targetOf))];
  const chain = [node.formula, DATA.live ? withNumbers(node.formula, node, v) : node.formula, value];
  const kept = node.edges.length === 1 ? "the local partial is" : "the local partials are";
  const later = hasAdjoints ? `; ${kept} noted for the way back` : "";
  const uses = operands.length ? `uses ${listed(operands)}${later}` : "uses no input";
  return {
    phase: `Forward sweep, step ${number} of ${STEPS.length}`,
    lines: [...equals(name, chain), ...(hasTangents ? tangentLines(node, moved) : [])],
    sentence: `${name} is computed: ${name} = ${node.formula} = ${value}. It ${uses}.` +
      `${hasTangents ? ` ${sayTangent(node, moved)}` : ""}`,
    partials: node.edges.flatMap((edge, k) => (edge.partial ? [partialText(node, edge, k, v)] : [])),
  };
}

function saySeed(_, {v}) {
  const constants = DATA.constants.map(pair => pair.join(" = "));
  const results = [...RESULTS.map(({id, text, value}) => `${text} = ${value ?? nodeText(NODE[id], v)}`), ...constants];
  const done = `The forward sweep is done: ${listed(results)}.`;
  if (!RESULTS.length) {
    return {
      phase: "Reverse sweep: the seed", partials: [], lines: [],
      sentence: `${done} That does not depend on the inputs, so there is nothing to hand back.`,
    };
  }
  const ids = [...new Set(DATA.outputs)], seeds = ids.flatMap(seedLines);
  const reason = DATA.several ? `${RESULT} is the sum of all results, each times its seed, so`
    : numberText(RESULTS[0].seed) === "1" ? "The result changes by as much as this last node does, so"
    : "It starts with the given seed:";
  const starts = seeds.filter(([name]) => name).map(([name], k) => `${name} = ${seedOf(ids[k])}`);
  return {
    phase: "Reverse sweep: the seed", partials: [], lines: seeds.slice(0, MOST_LINES),
    sentence: `${done} Now the way back, through the same steps in the opposite order. ${reason} ${listed(starts)}.`,
  };
}

function seedOf(id) {
  return numberText(DATA.live ? sum(RESULTS.filter(r => r.id === id).map(r => toNumber(r.seed))) : NODE[id].start);
}
const sum = numbers => numbers.reduce((x, y) => x + y, 0);
// What the seeds of a value come to with this one.
function seedTotal(k) {
  const own = RESULTS.slice(0, k + 1).filter(r => r.called === RESULTS[k].called);
  return RESULTS[k].total ?? sum(own.map(r => toNumber(r.seed)));
}

// "∇y = ∂Σf/∂f[0] + ∂Σf/∂f[1] = 1 + 1 = 2" for a value that is returned twice
function seedLines(id) {
  const own = RESULTS.filter(r => r.id === id), seeds = own.map(r => numberText(r.seed)).join(" + ");
  const derivative = r => `∂${RESULT}/∂${RESULT === r.name ? r.called : r.name}`;
  const isGiven = !DATA.several && seeds !== "1";
  const meaning = isGiven ? "the given seed" : own.map(derivative).join(" + ");
  return equals(`∇${nameOf(id)}`, [meaning, ...(DATA.live ? [seeds] : []), seedOf(id)]);
}

function sayReverse({node, edge, index}, {v, sweep}) {
  const record = sweep.records[index], target = targetOf(edge);
  const product = `${factor(numberText(record.giver))} · ${factor(numberText(record.partial))}`;
  const share = DATA.live && !record.nothing && !record.limit ? product : numberText(record.share);
  const before = record.had ? `${numberText(record.before)} + ` : "", isOpen = isUndetermined(record.share);
  const numbers = isOpen || (before && isUndetermined(record.before)) ? numberText(record.total)
    : before + (before && share !== product ? factor(share) : share);
  return {
    phase: `Reverse sweep, step ${index + 1} of ${HANDED.length}`,
    lines: equals(`∇${target}`, [contribution(record), numbers, numberText(record.total)]),
    sentence: [sayShare(record, target), sayWhatFollows(record, target, index)].join(" "),
    partials: edge.partial ? [partialText(node, edge, record.k, v)] : [],
  };
}

function sayShare(record, target) {
  const giver = nameOf(record.node.id), name = partialName(record.node, record.edge);
  if (record.nothing) {
    return `Nothing goes from ${giver} to ${target}: this branch was not taken, so it has no part in the result here.`;
  }
  const what = DATA.live ? ` ${numberText(record.giver)}` : "";
  const slope = DATA.live ? ` = ${numberText(record.partial)}` : "";
  const through = record.edge.partial ? `, times ${name}${slope},` : ", through its derivative,";
  const said = [`${giver} hands its adjoint${what}${through} back to ${target}.`];
  if (record.had && !isUndetermined(record.before)) {
    const [before, total] = [record.before, record.total].map(x => numberText(x));
    said.push(`${before} had already arrived there: the shares add up to ${total}.`);
  }
  if (record.limit) {
    const alone = isUndetermined(record.share) ? " for this share alone" : "";
    const end = `${numberText(record.end)}${record.end === record.total ? "" : " in the end"}`;
    said.push(isUndetermined(record.end) ? "0 · ∞ is undetermined, and no limit is known here."
      : `0 · ∞ is undetermined${alone}; the slopes near this point have a limit, by which ∇${target} is ${end}.`);
  } else if (record.vertex) said.push("The slope is infinite here; if a slope of 0 follows, a limit decides.");
  return said.join(" ");
}

function sayWhatFollows(record, target, index) {
  const rest = HANDED.slice(index + 1).filter(([node, k]) => isSameTarget(node.edges[k], record.edge));
  if (rest.length) {
    return `Still to come: the share from ${listed([...new Set(rest.map(([node]) => nameOf(node.id)))])}.`;
  }
  if (!DATA.live || !Number.isFinite(record.total)) return `∇${target} is complete.`;
  const change = numberText(record.total * NUDGE, DATA.digits + 2);
  return `∇${target} is complete: were ${target} larger by ${NUDGE}, ${RESULT} would change by about ${change}.`;
}

const isSameTarget = (one, other) => one.from === other.from && one.target === other.target;

function sayDone(_, {totals, moved}) {
  const all = INPUTS.map(node => [`∂${RESULT}/∂${node.label || node.name}`, node.gradient ?? numberText(totals[node.id])]);
  const count = all.length === 1 ? "the derivative" : all.length === 2 ? "both derivatives" : `all ${all.length} derivatives`;
  return {
    phase: "Done: the gradient", lines: all.slice(0, MOST_LINES), partials: [],
    sentence: `The gradient is complete: ${listed(all.map(pair => pair.join(" = ")))}. ` +
      (RESULTS.length ? `One sweep back gave ${count}.` : "Whatever the inputs are, the result stays the same.") +
      (hasTangents && RESULTS.length
        ? ` The sweep forward gave ${endsText(moved)}, in the one direction ${directionText(moved)}.` : ""),
  };
}

const isUndetermined = x => numberText(x) === "nan";

// "∇v0 = ∇v0 + ∇v1 · 1" without its left side; "lim" where it is 0 · ∞
function contribution(record) {
  const giver = record.edge.handed || `∇${nameOf(record.node.id)} · ${factor(record.edge.partial)}`;
  return `${record.had ? `∇${targetOf(record.edge)} + ` : ""}${record.limit ? "lim " : ""}${giver}`;
}

// Equal things under each other; what says nothing new is left out.
function equals(name, chain) {
  return chain.filter((text, k) => k === 0 || text !== chain[k - 1]).map((text, k) => [k === 0 ? name : "", text]);
}

function partialText(node, edge, k, v) {
  const chain = [edge.partial];
  if (DATA.live) chain.push(withNumbers(edge.partial, node, v), numberText(PROGRAM.partials[node.id][k](v)));
  return [partialName(node, edge), ...chain.filter((text, i) => i === 0 || text !== chain[i - 1])].join(" = ");
}

// What is said above everything where a derivative is not a number.
function sayOpen(nodes) {
  const names = nodes.map(node => (hasAdjoints ? `∂${RESULT}/∂${node.label || node.name}` : node.dot));
  return `${listed(names)} ${names.length > 1 ? "are" : "is"} undetermined here: 0 · ∞ or nan arises on the way.`;
}

// What is said above everything when the inputs have left the recorded path.
function sayFailed({line, value, expected}) {
  const where = line ? ` (${shorten(line, 100)})` : "";
  if (typeof expected === "boolean") {
    return `The program would take another branch here${where}: what is shown holds for the recorded branch only.`;
  }
  const [was, is] = [toNumber(expected), value].map(x => numberText(x));
  return `The program was recorded for the number ${was} here, which is now ${is}${where}: what is shown need not hold.`;
}
