// The sweep forward of the tangents, and what is said and shown of it; pages without tangents have none of this.
function recordedDirection() {
  return Object.fromEntries(DATA.nodes.filter(n => n.kind === "input").map(n => [n.id, toNumber(n.tangent ?? 0)]));
}
// Sweep the tangents forward: of each node, and what its operands give to it. What does not move has none, so that no
// infinity can make a nan of its 0.
function tangentSweep(v, direction) {
  const dots = [], parts = [], limits = new Set();
  if (!DATA.live) DATA.nodes.forEach(node => { dots[node.id] = node.tangent; });
  const given = recordedDirection(), isTheirs = Object.keys(given).every(id => given[id] === direction[id]);
  for (const node of DATA.live ? DATA.nodes : []) {
    if (node.kind === "input") {
      if (direction[node.id] !== 0) dots[node.id] = direction[node.id];
      continue;
    }
    const own = parts[node.id] = [];
    node.edges.forEach((edge, k) => {
      if (dots[edge.from] === undefined) return;
      const dot = dots[edge.from], partial = Number(PROGRAM.partials[node.id][k](v));
      own.push({edge, dot, partial, product: pushedOn(dot, partial, v[node.id], edge)});
    });
    if (own.length) dots[node.id] = own.reduce((sum, part) => sum + part.product, 0);
    if (isTheirs && node.tangent !== undefined && isRecorded(v)) {
      dots[node.id] = toNumber(node.tangent);
      limits.add(node.id);
    }
  }
  return {dots, parts, limits};
}
function pushedOn(dot, partial, out, edge) {
  const nothing = edge.structural ? partial === 0 : edge.vertex && dot === 0 && isinf(partial) && isfinite(out);
  return nothing ? 0 : dot * partial;
}

const tangentText = (id, {dots}) => numberText(dots[id] ?? 0);
const directionOf = moved => INPUTS.map(node => [node.dot, tangentText(node.id, moved), "moving"]);
const directionText = moved => listed(directionOf(moved).map(([dot, text]) => `${dot} = ${text}`));
const endsOf = moved => RESULTS.map(r => [r.dot, r.tangent ?? tangentText(r.id, moved), "moving"]);
const endsText = moved => listed(endsOf(moved).map(([dot, text]) => `${dot} = ${text}`));
function sayDirection(moved) {
  return `So is the direction in which ${INPUTS.length === 1 ? "it moves" : "they move"}: ${directionText(moved)}. `;
}

// What a tangent is made of: "ẋ · 2·x", the numbers in it, and its value.
function tangentFormula(node, {parts, limits}) {
  if (!DATA.live) return node.pushed ?? "";
  return (limits.has(node.id) ? "lim " : "") + (parts[node.id].map(part => part.edge.pushed).join(" + ") || "0");
}
function tangentLines(node, moved) {
  const product = ({dot, partial}) => `${factor(numberText(dot))} · ${factor(numberText(partial))}`;
  const isPlain = DATA.live && moved.parts[node.id].length && !moved.limits.has(node.id);
  const numbers = isPlain ? [moved.parts[node.id].map(product).join(" + ")] : [];
  const chain = [tangentFormula(node, moved), ...numbers, tangentText(node.id, moved)];
  return equals(node.dot, chain).map(pair => [...pair, "moving"]);
}
function sayTangent(node, moved) {
  const is = `${node.dot} = ${tangentText(node.id, moved)}`;
  if (!DATA.live) return `Its tangent goes along: ${is}.`;
  if (!moved.parts[node.id].length) return "No operand moves in this direction, so its tangent is 0.";
  if (moved.limits.has(node.id)) {
    return `Its tangent goes along. 0 · ∞ is undetermined; the slopes near this point have a limit, by which ${is}.`;
  }
  return `Its tangent goes along: ${node.dot} = ${tangentFormula(node, moved)} = ${tangentText(node.id, moved)}.`;
}

// The end of a page without adjoints: the derivatives of all results in one direction.
function sayTangents(_, {v, moved}) {
  const constants = DATA.constants.map(pair => pair.join(" = "));
  const values = RESULTS.map(({id, text, value}) => `${text} = ${value ?? nodeText(NODE[id], v)}`);
  const said = `The sweep is done: ${listed([...values, ...constants])}.`;
  if (!RESULTS.length) {
    return {phase: "Done", partials: [], lines: [], sentence: `${said} That does not depend on the inputs: nothing moves.`};
  }
  const isOne = INPUTS.length === 1 && !INPUTS[0].shape; // a single number
  const more = isOne ? "" : DATA.live ? " For the other inputs, choose another direction: each takes a sweep."
    : " Another direction takes another sweep: tangent= sets it.";
  return {
    phase: "Done: the derivative in one direction", lines: endsOf(moved).slice(0, MOST_LINES), partials: [],
    sentence: `${said} In the direction ${directionText(moved)} it gave ${endsText(moved)}.${saySlope(moved)}${more}`,
  };
}
// Along one input the tangent is a partial derivative.
function saySlope({dots}) {
  const moving = INPUTS.filter(node => DATA.live && dots[node.id] !== undefined), [{id, name}] = RESULTS;
  if (moving.length !== 1 || dots[moving[0].id] !== 1 || !Number.isFinite(dots[id] ?? 0)) return "";
  const own = moving[0].label || moving[0].name, change = numberText((dots[id] ?? 0) * NUDGE, DATA.digits + 2);
  const slopes = listed(RESULTS.map(result => `∂${result.name}/∂${own}`));
  return ` That is ${slopes}: were ${own} larger by ${NUDGE}, ${name} would change by about ${change}.`;
}

// How an input moves: its tangent, from which the sweep forward starts.
function seedField(node) {
  const id = `seed-${node.id}`, number = make("input", {type: "number", id, step: "any", inputmode: "decimal"});
  const put = value => {
    direction[node.id] = value;
    number.value = value;
  };
  number.addEventListener("input", () => {
    if (number.value === "" || !Number.isFinite(number.valueAsNumber)) return;
    direction[node.id] = number.valueAsNumber;
    changed();
  });
  put(direction[node.id]);
  const says = {type: "button", id: `alone-${node.id}`, "aria-label": `Only ${node.label || node.name} moves`};
  const alone = make("button", says, "only this"), others = INPUTS.length > 1 ? [alone] : [];
  const field = make("div", {class: "seed"}, make("label", {for: id}, node.dot), number, ...others);
  return {field, put, alone};
}

// New tangents, after an input or the direction has changed.
function fillTangents(middle, moved) {
  const put = ({name, formula, value}, meaning, number) => {
    write(formula, meaning && meaning !== name ? `${name} = ${meaning}` : name);
    write(value, number);
  };
  for (const node of DATA.nodes) {
    const meaning = node.kind === "input" ? "" : tangentFormula(node, moved);
    put(middle[node.id], meaning, tangentText(node.id, moved));
  }
  RESULTS.forEach((result, k) => {
    const text = result.tangent ?? tangentText(result.id, moved);
    put(middle[`result ${k}`], NODE[result.id].dot.includes(",") ? "" : NODE[result.id].dot, text);
  });
}
