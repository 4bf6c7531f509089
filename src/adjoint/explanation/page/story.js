// The steps of the page, and what is said at each of them.
const MOST_LINES = 8;
const NUDGE = 0.01;
const NODE = {};
DATA.nodes.forEach(node => { NODE[node.id] = node; });
const INPUTS = DATA.nodes.filter(node => node.kind === "input");
const STEPS = DATA.nodes.filter(node => node.kind !== "input");
const HANDED = handedBack();
const RESULT = DATA.result;
const nameOf = id => NODE[id].shown;
const resultName = k => (DATA.outputs.length > 1 ? `${RESULT}[${k}]` : RESULT);
// "L = v9"; where the program has the result's own name for it, that alone
const resultText = (id, k) => (resultName(k) === nameOf(id) ? nameOf(id) : `${resultName(k)} = ${nameOf(id)}`);

// start, one step per node, the seed, one step per edge of the walk back, the end
const TIMELINE = [
  {kind: "start", phase: "start"},
  ...STEPS.map((node, k) => ({kind: "forward", phase: "forward", node, number: k + 1})),
  {kind: "seed", phase: "reverse"},
  ...HANDED.map(([node, k], index) => ({kind: "reverse", phase: "reverse", node, edge: node.edges[k], index})),
  {kind: "done", phase: "done"},
];
const SEED_AT = STEPS.length + 1;
const lastTo = new Map(HANDED.map(([node, k], index) => [node.edges[k].from, index]));

function listed(items, most = 6) {
  const few = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  return few.length < 2 ? few.join("") : `${few.slice(0, -1).join(", ")} and ${few[few.length - 1]}`;
}
const partialName = (node, edge) => `∂${nameOf(node.id)}/∂${nameOf(edge.from)}`;
const nodeText = (node, v) => numberText(v[node.id]);

// What to show at a step: a heading, a chain of equal things, a sentence, and the partials that matter.
function describe(moment, state) {
  const say = {start: sayStart, forward: sayForward, seed: saySeed, reverse: sayReverse, done: sayDone};
  return say[moment.kind](moment, state);
}

function sayStart(_, {v}) {
  const all = INPUTS.map(node => [node.label || node.name, nodeText(node, v)]);
  const [are, them] = all.length === 1 ? ["The input is", "it"] : ["The inputs are", "them"];
  const steps = STEPS.length === 1 ? "one step" : `${STEPS.length} steps`;
  return {
    phase: "Start: the inputs", lines: all.slice(0, MOST_LINES), partials: [],
    sentence: `${are} given: ${listed(all.map(pair => pair.join(" = ")))}. ` +
      `The forward sweep computes ${steps} from ${them}, one after the other.`,
  };
}

function sayForward({node, number}, {v}) {
  const name = nameOf(node.id), value = nodeText(node, v);
  const operands = [...new Set(node.edges.map(edge => nameOf(edge.from)))];
  const chain = [node.formula, DATA.live ? withNumbers(node.formula, node, v) : node.formula, value];
  const kept = node.edges.length === 1 ? "the local partial is" : "the local partials are";
  const uses = operands.length ? `uses ${listed(operands)}; ${kept} noted for the way back` : "uses no input";
  return {
    phase: `Forward sweep, step ${number} of ${STEPS.length}`, lines: equals(name, chain),
    sentence: `${name} is computed: ${name} = ${node.formula} = ${value}. It ${uses}.`,
    partials: node.edges.flatMap((edge, k) => (edge.partial ? [partialText(node, edge, k, v)] : [])),
  };
}

function saySeed(_, {v, sweep}) {
  const ids = [...new Set(DATA.outputs)];
  const results = DATA.outputs.map((id, k) => `${resultText(id, k)} = ${nodeText(NODE[id], v)}`);
  const seedOf = id => numberText(sweep.seeds[id]);
  const seeds = ids.map(id => `∇${nameOf(id)} = ${seedOf(id)}`);
  const reason = ids.length === 1 && seedOf(ids[0]) === "1"
    ? "The result changes by as much as this last node does, so" : "It starts with the given weights:";
  return {
    phase: "Reverse sweep: the seed", partials: [],
    lines: ids.flatMap(id => equals(`∇${nameOf(id)}`, [`∂${RESULT}/∂${nameOf(id)}`, seedOf(id)])),
    sentence: `The forward sweep is done: ${listed(results)}. Now the way back, through the same steps in the ` +
      `opposite order. ${reason} ${listed(seeds)}.`,
  };
}

function sayReverse({node, edge, index}, {v, sweep}) {
  const record = sweep.records[index], target = nameOf(edge.from);
  const product = `${factor(numberText(record.giver))} · ${factor(numberText(record.partial))}`;
  const share = DATA.live && !record.nothing ? product : numberText(record.share);
  const numbers = record.had ? `${numberText(record.before)} + ${share === product ? share : factor(share)}` : share;
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
  if (record.had) {
    const [before, total] = [record.before, record.total].map(x => numberText(x));
    said.push(`${before} had already arrived there: the shares add up to ${total}.`);
  }
  if (record.vertex) said.push("The slope is infinite here; if a slope of exactly 0 follows, it ends there.");
  return said.join(" ");
}

function sayWhatFollows(record, target, index) {
  if (lastTo.get(record.edge.from) !== index) {
    const rest = HANDED.slice(index + 1).filter(([node, k]) => node.edges[k].from === record.edge.from);
    return `Still to come: the share from ${listed([...new Set(rest.map(([node]) => nameOf(node.id)))])}.`;
  }
  if (!DATA.live || !Number.isFinite(record.total)) return `∇${target} is complete.`;
  const change = numberText(record.total * NUDGE, DATA.digits + 2);
  return `∇${target} is complete: were ${target} larger by ${NUDGE}, ${RESULT} would change by about ${change}.`;
}

function sayDone(_, {totals}) {
  const all = INPUTS.map(node => [`∂${RESULT}/∂${node.label || node.name}`, numberText(totals[node.id])]);
  return {
    phase: "Done: the gradient", lines: all.slice(0, MOST_LINES), partials: [],
    sentence: `The gradient is complete: ${listed(all.map(pair => pair.join(" = ")))}. ` +
      (all.length > 1 ? `One walk back gave all ${all.length} derivatives.` : "One walk back gave the derivative."),
  };
}

// "∇v0 = ∇v0 + ∇v1 · 1" without its left side
function contribution(record) {
  const giver = record.edge.handed || `∇${nameOf(record.node.id)} · ${factor(record.edge.partial)}`;
  return record.had ? `∇${nameOf(record.edge.from)} + ${giver}` : giver;
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
