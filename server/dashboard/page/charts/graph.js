/** A network as a drawing: a box a layer, its blocks folded where they are many, with keys and mouse. */

import {h, replace, svg} from '../dom.js';
import {plural} from '../format.js';
import {blocksOf, fold} from './graph_blocks.js';
import {layout} from './graph_layout.js';
import {panZoom} from './pan_zoom.js';
import {activationText, familyOf} from '../parts/layer.js';

const BOX = {width: 208, height: 44};
const GAPS = {across: 24, down: 26};
const MARGIN = 24;
const LETTERS = {name: 23, detail: 31};
/** More layers than these are shown folded at first. */
const FOLD_OVER = 40;

/** The end of a name tells more than its beginning, which is that of the block. */
function clipped(text, letters) {
  return text.length > letters ? `…${text.slice(1 - letters)}` : text;
}

function titleOf(node) {
  return node.block ? node.block.name : node.layer.name;
}

function detailOf(node) {
  const what = node.block ? plural(node.members.length, 'layer') : node.layer.kind ?? 'unknown kind';
  const size = activationText(node.layer);
  return size ? `${what} · ${size}` : what;
}

function severityOf(node, issues) {
  const names = new Set((node.members ?? [node.layer]).map((layer) => layer.name));
  const found = issues.filter((issue) => names.has(issue.layer));
  return found.some((issue) => issue.severity === 'error') ? 'error' : found.length ? 'warning' : null;
}

function box(node, place, severity) {
  const family = node.block ? 'block' : familyOf(node.layer.kind);
  const label = `${titleOf(node)}, ${detailOf(node)}${severity ? `, ${severity}` : ''}`;
  return svg('g', {
    class: `node family-${family}${severity ? ` has-${severity}` : ''}`, role: 'button', tabindex: '-1',
    transform: `translate(${place.x - BOX.width / 2} ${place.y})`, 'aria-label': label, 'data-test': 'graph-node',
    'data-name': titleOf(node), 'aria-expanded': node.block ? 'false' : null,
  },
  svg('title', {}, label),
  node.block ? svg('rect', {class: 'shade', x: 4, y: 4, width: BOX.width, height: BOX.height, rx: 8}) : null,
  svg('rect', {class: 'body', width: BOX.width, height: BOX.height, rx: 8}),
  svg('rect', {class: 'stripe', x: 6, y: 8, width: 4, height: BOX.height - 16, rx: 2}),
  svg('text', {class: 'name', x: 18, y: 18}, clipped(titleOf(node), LETTERS.name)),
  svg('text', {class: 'detail', x: 18, y: 34}, clipped(detailOf(node), LETTERS.detail)),
  node.block ? svg('text', {class: 'sign', x: BOX.width - 16, y: 27}, '+') : null,
  severity ? svg('text', {class: 'sign', x: BOX.width - 16, y: 27}, '!') : null);
}

/** A frame behind the layers of an unfolded block, whose heading folds it again. */
function frameOf(block, nodes, places, onFold) {
  const inside = nodes.filter(({id}) => id.startsWith('layer ') && Number(id.slice(6)) >= block.first && Number(id.slice(6)) <= block.last);
  const xs = inside.map(({id}) => places.get(id).x);
  const ys = inside.map(({id}) => places.get(id).y);
  const left = Math.min(...xs) - BOX.width / 2 - 8;
  const top = Math.min(...ys) - 10;
  return svg('g', {class: 'frame', transform: `translate(${left} ${top})`},
    svg('rect', {width: Math.max(...xs) + BOX.width / 2 + 8 - left, height: Math.max(...ys) + BOX.height + 10 - top, rx: 10}),
    svg('text', {
      x: 4, y: -4, role: 'button', 'aria-label': `Fold ${block.name}`, 'data-test': 'graph-fold', on: {click: () => onFold(block)},
    }, `− ${block.name}`));
}

/** What the drawing knows between two strokes. */
class Graph {
  constructor(options) {
    this.options = options;
    this.open = new Set();
    this.chosen = null;
    this.content = svg('g', {});
    this.window = svg('svg', {class: 'graph-window', role: 'group', 'data-test': 'graph'}, arrow(), this.content);
    this.view = panZoom(this.window, this.content);
    this.window.addEventListener('keydown', (event) => this.onKey(event));
    this.hasBegun = false;
    new ResizeObserver(() => this.begin()).observe(this.window);
  }

  /** Once it has a size; at another size only what has moved out of it comes back. */
  begin() {
    if (!this.hasBegun && this.window.clientWidth > 0 && this.nodes?.length) {
      this.hasBegun = true;
      this.view.begin();
    } else {
      this.view.panBy(0, 0);
    }
  }

  update(report) {
    const before = this.report?.layers.map(({name}) => name).join('\n');
    this.report = report;
    this.blocks = blocksOf(report.layers);
    if (before === undefined) {
      this.foldAll(report.layers.length > FOLD_OVER);
    } else {
      this.draw();
    }
    if (before !== report.layers.map(({name}) => name).join('\n')) {
      this.hasBegun = false;
      this.begin();
    }
  }

  foldAll(isFolded) {
    this.open = new Set(isFolded ? [] : this.blocks.map(({name}) => name));
    this.draw();
  }

  setOpen(block, isOpen) {
    this.open[isOpen ? 'add' : 'delete'](block.name);
    this.draw();
    this.focus(this.nodes.find((node) => (isOpen ? node.id === `layer ${block.first}` : node.block === block)));
  }

  draw() {
    this.nodes = fold(this.report.layers, this.blocks, this.open);
    const boxes = this.nodes.map(({id, inputs}) => ({id, inputs, ...BOX}));
    const {width, height, places, edges} = boxes.length ? layout(boxes, GAPS) : {width: 1, height: 1, places: new Map(), edges: []};
    this.places = places;
    this.elements = new Map(this.nodes.map((node) => [node.id, box(node, places.get(node.id), severityOf(node, this.report.issues))]));
    this.nodes.forEach((node) => this.elements.get(node.id).addEventListener('click', () => this.onClick(node)));
    const frames = this.blocks.filter(({name}) => this.open.has(name))
      .map((block) => frameOf(block, this.nodes, places, () => this.setOpen(block, false)));
    replace(this.content, svg('g', {transform: `translate(${MARGIN} ${MARGIN})`},
      frames, edges.map(({path}) => svg('path', {class: 'edge', d: path, 'marker-end': 'url(#arrow)'})), [...this.elements.values()]));
    this.window.setAttribute('aria-label', `Drawing of the network, ${plural(this.report.layers.length, 'layer')}`);
    this.window.style.setProperty('--content-height', `${height + 2 * MARGIN}px`);
    this.view.size(width + 2 * MARGIN, height + 2 * MARGIN);
    this.mark(this.nodes.find((node) => titleOf(node) === this.chosen) ?? this.nodes[0], this.chosen !== null);
  }

  /** One node is in the order of the Tab key; arrows lead on from there. */
  mark(node, isChosen) {
    this.current = node ?? null;
    for (const [id, element] of this.elements) {
      element.setAttribute('tabindex', id === node?.id ? '0' : '-1');
      element.classList.toggle('is-chosen', isChosen && id === node?.id);
    }
  }

  focus(node) {
    if (!node) {
      return;
    }
    this.chosen = titleOf(node);
    this.mark(node, true);
    this.elements.get(node.id).focus({preventScroll: true});
    this.reveal(node);
    this.options.onSelect?.(node.block ? node.members[0].name : node.layer.name);
  }

  reveal(node) {
    const {x, y} = this.places.get(node.id);
    this.view.reveal({x: x - BOX.width / 2 + MARGIN, y: y + MARGIN, ...BOX});
  }

  onClick(node) {
    if (node.block) {
      this.setOpen(node.block, true);
    } else {
      this.focus(node);
    }
  }

  /** The nearest node in a direction: along connections, or beside in the same row. */
  neighbour(key) {
    const here = this.places.get(this.current.id);
    const isAcross = key === 'ArrowLeft' || key === 'ArrowRight';
    const linked = key === 'ArrowUp' ? new Set(this.current.inputs) : null;
    const candidates = this.nodes.filter((node) => {
      const {x, y} = this.places.get(node.id);
      return isAcross ? y === here.y && (key === 'ArrowLeft' ? x < here.x : x > here.x)
        : linked ? linked.has(node.id) : node.inputs.includes(this.current.id);
    });
    const distance = ({id}) => Math.abs(this.places.get(id).x - here.x) + Math.abs(this.places.get(id).y - here.y);
    return candidates.sort((a, b) => distance(a) - distance(b))[0];
  }

  onKey(event) {
    const keys = {'+': () => this.view.zoomBy(1.25), '-': () => this.view.zoomBy(0.8), 0: () => this.view.whole()};
    const isArrow = event.key.startsWith('Arrow');
    if (isArrow && this.current) {
      this.focus(this.neighbour(event.key));
    } else if ((event.key === 'Enter' || event.key === ' ') && this.current) {
      this.onClick(this.current);
    } else if (keys[event.key] && !event.ctrlKey && !event.metaKey) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Chooses a layer by name, unfolding its block. */
  select(name) {
    const i = this.report.layers.findIndex((layer) => layer.name === name);
    const block = this.blocks.find(({first, last}) => i >= first && i <= last);
    if (block && !this.open.has(block.name)) {
      this.open.add(block.name);
      this.draw();
    }
    const node = this.nodes.find(({id}) => id === `layer ${i}`);
    if (node) {
      this.chosen = name;
      this.mark(node, true);
      this.reveal(node);
    }
  }
}

function arrow() {
  return svg('defs', {}, svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'},
    svg('path', {class: 'arrow', d: 'M0 0L8 4L0 8z'})));
}

/**
 * @param {{layers: Object[], issues: Object[]}} report as POST /v1/networks/analyze gives it
 * @param {{onSelect?: function(string)}} options onSelect: a layer was chosen in the drawing
 * @returns {HTMLElement} with `update(report)` and `select(layerName)`
 */
export function graph(report, options = {}) {
  const drawing = new Graph(options);
  const button = (text, label, test, click) => h('button', {
    type: 'button', class: 'small', 'aria-label': label, title: label, 'data-test': `graph-${test}`, on: {click},
  }, text);
  const folding = [button('Fold', 'Fold all blocks', 'fold-all', () => drawing.foldAll(true)),
    button('Unfold', 'Unfold all blocks', 'unfold-all', () => drawing.foldAll(false))];
  const tools = h('div', {class: 'graph-tools row'},
    button('−', 'Smaller', 'smaller', () => drawing.view.zoomBy(0.8)),
    button('+', 'Larger', 'larger', () => drawing.view.zoomBy(1.25)),
    button('Whole', 'The whole network', 'whole', () => drawing.view.whole()), folding);
  const keys = h('p', {class: 'small muted keys'}, 'Keys: arrows go along, + − 0 zoom, Enter unfolds. Ctrl and the wheel zoom.');
  const element = h('div', {class: 'graph'}, tools, drawing.window, keys);
  const update = (next) => {
    drawing.update(next);
    folding.forEach((each) => { each.hidden = drawing.blocks.length === 0; });
  };
  update(report);
  return Object.assign(element, {update, select: (name) => drawing.select(name)});
}
