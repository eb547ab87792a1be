import {get, poll} from '../../api.js';
import {matrix} from '../../charts/matrix.js';
import {SHOWN, filterOf, modelOf, neverPredicted, orderOf, ordersOf} from '../../charts/matrix_model.js';
import {h, replace} from '../../dom.js';
import {count, percent, plural} from '../../format.js';
import {sampleWord} from '../../parts/data_kind.js';
import {download} from '../../parts/download.js';
import {failure} from '../../parts/failure.js';
import {choice, field} from '../../parts/field.js';
import {cellSamples} from './confusion_cell.js';

/** Parts in the order in which they tell most. */
const PARTS = ['validation', 'test', 'train'];
const PART_NAMES = {validation: 'Validation', test: 'Test', train: 'Training'};
const MISTAKES = 10;
const NEVER_NAMED = 20;
const FILTERED_FROM = 12; // classes: fewer are seen at a glance

function mistakesOf(model, word, onPick) {
  const rows = model.mistakes.slice(0, MISTAKES);
  const list = h('ol', {class: 'mistakes', 'data-test': 'mistakes'}, rows.map(([t, p, k]) => h('li', {},
    h('button', {class: 'quiet mistake', on: {click: () => onPick(t, p)}},
      h('span', {class: 'mistake-names'}, h('span', {class: 'clip', dir: 'auto', title: model.classes[t]}, model.classes[t]), h('span', {class: 'muted'}, '→'), h('span', {class: 'clip', dir: 'auto', title: model.classes[p]}, model.classes[p])),
      h('b', {}, count(k))))));
  const none = model.unclassified > 0 ? `No ${word} was taken for another class.` : `None: every ${word} was found.`;
  return h('section', {class: 'card'}, h('h2', {}, 'Most frequent mistakes'), rows.length > 0 ? list : h('p', {class: 'muted'}, none));
}

/** A class that is never predicted spoils a network whose accuracy looks well. */
function neverWords(model) {
  const never = neverPredicted(model);
  const names = never.slice(0, NEVER_NAMED).map((k, i) => [i > 0 ? ', ' : null, h('bdi', {}, model.classes[k])]);
  const rest = never.length - NEVER_NAMED;
  return never.length === 0 ? null
    : h('p', {class: 'small break', 'data-test': 'never-predicted'}, h('b', {}, 'Never predicted: '), names, rest > 0 ? ` and ${count(rest)} more` : null);
}

/** One part: its matrix, the mistakes, the samples of a cell. Keeps what was chosen in the address. */
class PartView {
  constructor(trial, job, model, parts, scope) {
    Object.assign(this, {trial, job, model, parts, scope, word: sampleWord(job.kind)});
    this.state = {shown: scope.query.get('show') ?? 'counts', order: scope.query.get('order') ?? 'data', text: ''};
    this.chosen = this.cellOfAddress();
    this.drawn = h('div', {});
    this.samples = h('div', {});
    this.shownCell = new AbortController();
    scope.signal.addEventListener('abort', () => this.shownCell.abort(), {once: true});
    this.element = h('div', {class: 'stack'}, this.controls(), h('div', {class: 'confusion'}, h('div', {class: 'card matrix-card'}, this.summary(), this.drawn, neverWords(model)),
      mistakesOf(model, this.word, (t, p) => this.pick(t, p))), this.samples);
    this.draw();
    if (this.chosen) {
      this.showSamples();
    }
  }

  cellOfAddress() {
    const cell = ['true', 'predicted'].map((name) => this.model.classes.indexOf(this.scope.query.get(name)));
    return cell.includes(-1) ? null : cell;
  }

  summary() {
    const {model} = this;
    const rest = model.unclassified > 0 ? `; ${count(model.unclassified)} got no class, count as wrong and stand in no cell` : '';
    return h('p', {'data-test': 'matrix-summary'}, h('b', {}, percent(model.accuracy)), ` of ${plural(model.total, this.word)} right${rest}`);
  }

  controls() {
    const select = (name, key, choices, test) => choice(choices, {value: this.state[key], 'data-test': test, on: {change: ({target}) => {
      this.state[key] = target.value;
      this.scope.setQuery({[name]: target.value});
      this.draw();
    }}});
    const filter = h('input', {type: 'search', placeholder: 'Part of a name', 'data-test': 'class-filter', on: {input: () => { this.state.text = filter.value; this.draw(); }}});
    const path = `/v1/trials/${this.trial.id}/confusion-matrix.csv?part=${this.model.part}`;
    const save = h('button', {'data-test': 'save-csv', on: {click: () => download(path, `confusion-matrix-${this.model.part}.csv`, {signal: this.scope.signal})}}, 'Save as CSV');
    return h('div', {class: 'row matrix-controls'}, field('Part', this.parts), field('Cells show', select('show', 'shown', SHOWN, 'matrix-show')), field('Order of classes', select('order', 'order', ordersOf(this.word), 'matrix-order')),
      this.model.size > FILTERED_FROM ? field('Classes', filter) : null, save);
  }

  draw() {
    const places = filterOf(this.model, orderOf(this.model, this.state.order), this.state.text);
    replace(this.drawn, matrix(this.model, {shown: this.state.shown, word: this.word, places, chosen: this.chosen, onPick: (t, p) => this.pick(t, p)}));
  }

  pick(t, p) {
    this.chosen = [t, p];
    this.scope.setQuery({true: this.model.classes[t], predicted: this.model.classes[p]});
    for (const cell of this.drawn.querySelectorAll('button.cell')) {
      cell.setAttribute('aria-pressed', String(Number(cell.dataset.true) === t && Number(cell.dataset.predicted) === p));
    }
    this.showSamples();
    this.samples.querySelector('h2').focus({preventScroll: true});
    this.samples.scrollIntoView({block: 'nearest', behavior: 'smooth'});
  }

  showSamples() {
    this.shownCell.abort();
    this.shownCell = new AbortController();
    replace(this.samples, cellSamples({trial: this.trial, kind: this.job.kind}, this.model, this.chosen, this.shownCell.signal));
  }
}

/** Confusion matrices of a classification. */
export const tab = {
  name: 'confusion',
  label: 'Confusion',
  applies: (trial, job) => job.kind !== 'sequence_regression',
  show(trial, job, scope) {
    const body = h('div', {class: 'stack'}, h('p', {class: 'empty'}, 'There is something to see when the trial is evaluated.'));
    let shown = '';
    const fill = ({items}) => {
      const found = PARTS.map((part) => items.find((one) => one.part === part)).filter(Boolean);
      const key = found.map(({part, created_at: at}) => part + at).join();
      if (found.length === 0 || key === shown) {
        return; // a poll brings the job's other trials too
      }
      shown = key;
      const content = h('div', {});
      const show = (part) => get(`/v1/trials/${trial.id}/confusion-matrix?part=${part}&form=sparse`, scope)
        .then((answer) => replace(content, new PartView(trial, job, modelOf(answer), parts, scope).element))
        .catch((error) => scope.signal.aborted || replace(content, field('Part', parts), failure(error)));
      const asked = scope.query.get('part');
      const parts = choice(found.map(({part, sample_count: n}) => [part, `${PART_NAMES[part]}, ${plural(n, sampleWord(job.kind))}`]), {
        'data-test': 'part', value: found.some(({part}) => part === asked) ? asked : found[0].part,
        on: {change: () => { scope.setQuery({part: parts.value}); show(parts.value); }},
      });
      replace(body, content);
      show(parts.value);
    };
    poll(`/v1/trials/${trial.id}/evaluations`, fill, {signal: scope.signal, interval: 4000});
    return body;
  },
};
