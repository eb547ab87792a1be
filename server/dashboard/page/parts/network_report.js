/** What the service says of a network: drawing, totals, issues, and a table of its layers. */

import {graph} from '../charts/graph.js';
import {h, replace} from '../dom.js';
import {bytes, count, nounOf} from '../format.js';
import {figure} from './figure.js';
import {issueRow} from './issues.js';
import {activationMeaning, activationText, familyOf, parametersText} from './layer.js';

function totalsOf({layers, totals}) {
  return [
    figure(nounOf(layers.length, 'layer'), count(layers.length), 'total-layers'),
    figure(nounOf(totals.learnables, 'learnable'), count(totals.learnables), 'total-learnables'),
    figure(`multiply-adds a ${layers.some(({format}) => format === 'CT') ? 'step' : 'sample'}`, count(totals.multiply_adds), 'total-multiply-adds'),
    figure('of parameters', bytes(totals.parameter_bytes), 'total-parameter-bytes'),
    figure(`training, batches of ${totals.batch_size}`, bytes(totals.training_bytes), 'total-training-bytes'),
    figure('evaluation', bytes(totals.inference_bytes), 'total-inference-bytes'),
  ];
}

function layerRow(layer, i, onSelect) {
  const parameters = parametersText(layer.learnables);
  return h('tr', {'data-name': layer.name, on: {click: () => onSelect(layer.name)}},
    h('td', {class: 'numeric muted'}, i + 1),
    h('td', {class: 'break'}, h('button', {type: 'button', class: 'link'}, layer.name)),
    h('td', {}, h('span', {class: `dot family-${familyOf(layer.kind)}`}), layer.kind ?? '–'),
    h('td', {class: 'nowrap', title: activationMeaning(layer)}, activationText(layer) || '–'),
    h('td', {class: 'numeric', title: parameters || null}, count(layer.learnable_count)),
    h('td', {class: 'small muted parameters'}, parameters),
    h('td', {class: 'numeric'}, count(layer.multiply_adds)),
    h('td', {class: 'numeric'}, bytes(layer.activation_bytes)));
}

const HEADINGS = [
  ['', 'numeric'], ['Layer', ''], ['Kind', ''], ['Output', ''], ['Learnables', 'numeric'], ['Their shapes', 'parameters'],
  ['Multiply-adds', 'numeric'], ['Output bytes', 'numeric'],
];

function table(body) {
  return h('div', {class: 'table-box layers', tabindex: '0', role: 'region', 'aria-label': 'Layers'},
    h('table', {'data-test': 'layers'},
      h('caption', {class: 'only-readers'}, 'Layers in the order in which they run; sizes, work and bytes are of one sample'),
      h('thead', {}, h('tr', {}, HEADINGS.map(([text, kind]) => h('th', {scope: 'col', class: kind}, text)))), body));
}

/**
 * @param {Object} report of POST /v1/networks/analyze
 * @returns {HTMLElement} with `update(report)`
 */
export function networkReport(report) {
  const totals = h('div', {class: 'figures'});
  const issues = h('ul', {class: 'issues', role: 'status', 'data-test': 'issues'});
  const rows = h('tbody', {});
  const mark = (name) => rows.querySelectorAll('tr').forEach((row) => row.classList.toggle('is-chosen', row.dataset.name === name));
  const select = (name) => {
    drawing.select(name);
    mark(name);
  };
  const box = table(rows);
  const follow = (name) => {
    mark(name);
    const row = rows.querySelector('.is-chosen');
    box.scrollTop = row ? row.offsetTop - box.clientHeight / 2 : box.scrollTop;
  };
  const drawing = graph(report, {onSelect: follow});
  const fill = (next) => {
    replace(totals, totalsOf(next));
    replace(issues, next.issues.map((issue) => issueRow(issue, select)));
    issues.hidden = next.issues.length === 0;
    replace(rows, next.layers.map((layer, i) => layerRow(layer, i, select)));
  };
  const update = (next) => {
    fill(next);
    drawing.update(next);
  };
  fill(report);
  const element = h('div', {class: 'network-report', 'data-test': 'network-report'}, totals, issues,
    h('div', {class: 'network-panes'}, h('div', {class: 'card graph-card'}, drawing), box));
  return Object.assign(element, {update});
}
