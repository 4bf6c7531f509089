// The page: one number says where we are, and everything is drawn from it and the inputs.
const PACE = 1500;
const LAST = TIMELINE.length - 1;
const given = Object.fromEntries(INPUTS.map(node => [node.id, DATA.live ? toNumber(node.value) : node.value]));
const inputs = {...given}, direction = hasTangents ? recordedDirection() : {};
const graph = new Graph(find("graph-box"));
const table = new Table(find("table-box"), go);
let step = 0, timer = null, sweeps = null;

function recompute() {
  sweeps = evaluated(inputs, direction);
  table.fill(sweeps);
  const texts = new Set([...sweeps.failed.map(sayFailed), ...(sweeps.open.length ? [sayOpen(sweeps.open)] : [])]);
  find("banners").replaceChildren(...[...texts].map(text => make("p", {class: "banner"}, text)));
}

// What is known at a step: values so far, and the adjoints with the shares that have arrived.
function stateAt(at) {
  const known = new Set(INPUTS.map(node => node.id)), totals = [];
  STEPS.slice(0, at).forEach(node => known.add(node.id));
  const done = Math.max(0, Math.min(at - SEED_AT, HANDED.length));
  if (at >= SEED_AT) sweeps.sweep.seeds.forEach((seed, id) => { totals[id] = seed; });
  sweeps.sweep.records.slice(0, done).forEach(record => { totals[record.edge.from] = record.soFar; });
  if (at === LAST && hasAdjoints) DATA.nodes.forEach(node => { totals[node.id] = sweeps.final[node.id]; });
  return {...sweeps, known, totals, done};
}

function show() {
  const moment = TIMELINE[step], state = stateAt(step), said = describe(moment, state);
  document.body.dataset.phase = moment.phase;
  find("phase").textContent = said.phase;
  write(find("sentence"), said.sentence);
  find("lines").replaceChildren(...said.lines.flatMap(([left, right, kind], k) => {
    const isTotal = k === said.lines.length - 1 || said.lines[k + 1][0] !== ""; // where the next chain begins
    const cls = isTotal ? `total ${kind ?? ""}` : "";
    return [make("span", {}, left), make("span", {}, "="), make("span", {class: cls}, ...unbroken(right))];
  }));
  find("partials").replaceChildren(...said.partials.map(text => make("li", {}, ...unbroken(text))));
  showIfAny("line", moment.node && moment.node.line);
  showIfAny("block", moment.node && moment.node.block);
  graph.show(moment, step, state);
  table.show(step);
  const slider = find("step");
  slider.value = step;
  slider.setAttribute("aria-valuetext", `${said.phase}; ${step + 1} of ${TIMELINE.length}`);
  for (const id of ["first", "back"]) find(id).setAttribute("aria-disabled", step === 0);
  for (const id of ["next", "last"]) find(id).setAttribute("aria-disabled", step === LAST);
  for (const node of DATA.live && hasAdjoints ? INPUTS : []) {
    const total = state.totals[node.id], complete = total !== undefined && (lastTo.get(node.id) ?? -1) < state.done;
    find(`slope-${node.id}`).textContent = complete ? `∇ = ${numberText(total)}` : "";
  }
}
function showIfAny(id, text) {
  find(id).hidden = !text;
  find(id).textContent = text || "";
}

function go(to) {
  step = Math.max(0, Math.min(LAST, to));
  show();
}
function move(to) {
  pause();
  go(to);
}

function pause() {
  clearInterval(timer);
  timer = null;
  find("play").classList.remove("playing");
  find("play").setAttribute("aria-label", "Play");
}
function play() {
  if (step === LAST) go(0);
  find("play").classList.add("playing");
  find("play").setAttribute("aria-label", "Pause");
  clearInterval(timer);
  timer = setInterval(() => {
    go(step + 1);
    if (step === LAST) pause();
  }, PACE / Number(find("speed").value));
}
const toggle = () => (timer === null ? play() : pause());

// The arrows belong to a focused field, and to a box that can be scrolled sideways.
function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target, field = target.closest("input:not(#step), select");
  const box = target.closest(".scroll"), scrolls = box && box.scrollWidth > box.clientWidth + 1;
  const action = {
    ArrowRight: () => move(step + 1), ArrowLeft: () => move(step - 1), " ": toggle,
    Home: () => move(0), End: () => move(LAST),
  }[event.key];
  if (!action || field || (scrolls && event.key !== " ") || (event.key === " " && target.closest("button"))) return;
  event.preventDefault();
  action();
}

// The smallest of 1, 2, 5, 10, ... that leaves room on both sides of the value.
function reach(value) {
  const least = Math.max(2, 2 * (Number.isFinite(value) ? abs(value) : 0)), ten = 10 ** Math.floor(log10(least));
  return [1, 2, 5, 10].map(k => k * ten).find(r => r >= least * (1 - 1e-9));
}
function inputField(node) {
  const name = node.label || node.name, id = `input-${node.id}`;
  const range = make("input", {type: "range", id: `range-${node.id}`, step: "any", "aria-label": `${name}, slider`});
  const number = make("input", {type: "number", id, step: "any", inputmode: "decimal"});
  const put = (value, from) => {
    const limit = Math.max(reach(given[node.id]), abs(value) > reach(given[node.id]) ? reach(value) : 0);
    inputs[node.id] = value;
    range.min = -limit;
    range.max = limit;
    if (from !== range) range.value = value;
    if (from !== number) number.value = Number.isFinite(value) ? value : "";
    range.setAttribute("aria-valuetext", numberText(value));
  };
  range.addEventListener("input", () => {
    const grain = (range.max - range.min) / 400;
    put(Number((Math.round(range.value / grain) * grain).toPrecision(10)), range);
    changed();
  });
  number.addEventListener("input", () => {
    if (number.value === "" || !Number.isFinite(number.valueAsNumber)) return;
    put(number.valueAsNumber, number);
    changed();
  });
  put(given[node.id], null);
  const slope = hasAdjoints ? [make("output", {class: "slope", id: `slope-${node.id}`, for: id})] : [];
  const seed = hasTangents ? seedField(node) : null;
  const under = [...slope, ...(seed ? [seed.field] : [])];
  const field = make("div", {class: "field"}, make("label", {for: id}, name), range, number, ...under);
  const reset = () => {
    put(given[node.id], null);
    if (seed) seed.put(recordedDirection()[node.id]);
  };
  return {field, reset, seed};
}
function changed() {
  recompute();
  show();
}

function buildInputs() {
  if (!DATA.live) {
    find("reset").hidden = true;
    document.body.dataset.fixed = "";
    find("inputs-title").textContent = "Fixed inputs";
    find("fields").append(make("p", {}, DATA.why || "The numbers of this page are those of the recorded run."));
    return;
  }
  const fields = INPUTS.map(inputField);
  find("fields").append(...fields.map(f => f.field));
  fields.forEach(({seed}, k) => seed && seed.alone.addEventListener("click", () => {
    fields.forEach((other, n) => other.seed.put(n === k ? 1 : 0));
    changed();
  }));
  find("reset").addEventListener("click", () => {
    fields.forEach(f => f.reset());
    changed();
  });
}

function buildTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)"), chosen = document.documentElement.dataset;
  const dark = () => (chosen.theme ? chosen.theme === "dark" : system.matches);
  const label = () => {
    find("theme").textContent = dark() ? "Light" : "Dark";
    find("theme").setAttribute("aria-label", `Use the ${dark() ? "light" : "dark"} colours`);
  };
  find("theme").addEventListener("click", () => {
    chosen.theme = dark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();
}

function start() {
  const slider = find("step");
  slider.max = LAST;
  document.body.dataset.mode = DATA.mode;
  find("controls").style.setProperty("--split", `${hasAdjoints ? (100 * (SEED_AT - 0.5)) / LAST : 100}%`);
  slider.addEventListener("input", () => move(Number(slider.value)));
  find("first").addEventListener("click", () => move(0));
  find("back").addEventListener("click", () => move(step - 1));
  find("next").addEventListener("click", () => move(step + 1));
  find("last").addEventListener("click", () => move(LAST));
  find("play").addEventListener("click", toggle);
  find("speed").addEventListener("change", () => timer !== null && play());
  document.addEventListener("keydown", onKey);
  buildTheme();
  buildInputs();
  recompute();
  let drawn = 0;
  new ResizeObserver(() => {
    if (find("graph-box").clientWidth === drawn) return;
    drawn = find("graph-box").clientWidth;
    graph.draw();
    show();
  }).observe(find("graph-box"));
  graph.draw();
  show();
  // On paper the whole trace is wanted, wherever the reader was.
  let before = 0;
  addEventListener("beforeprint", () => { before = step; pause(); go(LAST); });
  addEventListener("afterprint", () => go(before));
}
start();
