// Bytes to pictures, and a cell of a picture under the pointer or chosen by the arrow keys.

// The pictures' bytes: what was deflated, with each frame as its difference from the one before.
async function inflated() {
  const text = find("pictures").textContent.trim();
  if (!text) return new Uint8Array(0);
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
function framesOf(bytes, start, size) {
  const found = [];
  for (let k = 0; k < DATA.frames.length; k++) {
    const frame = bytes.slice(start + k * size, start + (k + 1) * size);
    if (k) for (let i = 0; i < size; i++) frame[i] += found[k - 1][i];
    found.push(frame);
  }
  return found;
}

// A picture that can be asked cell by cell. cellAt(x, y): the cell at a place between 0 and 1; boxOf(row, column): its place.
class Probe {
  constructor({name, rows, columns, cellAt, boxOf, say, by = 1}) {
    Object.assign(this, {rows, columns, cellAt, boxOf, say, by});
    this.canvas = make("canvas", {"aria-hidden": "true"});
    this.brush = this.canvas.getContext("2d", {willReadFrequently: true}); // drawn by numbers: no need for a GPU
    this.mark = make("span", {class: "mark", hidden: ""});
    this.frame = make("div", {class: "picture", tabindex: 0, role: "group", "aria-roledescription": "picture", "aria-label": name},
      this.canvas, this.mark);
    this.readout = make("output", {class: "readout", "aria-live": "polite"});
    this.cell = null;
    const {frame} = this;
    frame.addEventListener("pointermove", event => {
      const box = this.canvas.getBoundingClientRect();
      this.choose(this.cellAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height));
    });
    frame.addEventListener("pointerleave", () => this.choose(null));
    frame.addEventListener("blur", () => this.choose(null));
    frame.addEventListener("keydown", event => this.onKey(event));
  }

  onKey(event) {
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, column] = this.cell ?? [floor(this.rows / 2), floor(this.columns / 2)], by = this.cell ? this.by : 0;
    this.choose([clamp(row + by * move[0], 0, this.rows - 1), clamp(column + by * move[1], 0, this.columns - 1)]);
  }

  choose(cell) {
    this.cell = cell;
    this.update();
  }

  update() {
    const {cell, mark} = this;
    mark.hidden = !cell;
    this.readout.textContent = cell ? this.say(...cell) : "";
    if (!cell) return;
    const [x, y, width, height] = this.boxOf(...cell);
    Object.entries({left: x, top: y, width, height}).forEach(([k, v]) => mark.style.setProperty(k, `${100 * v}%`));
  }
}
