import {get} from '../../api.js';
import {lines} from '../../charts/lines.js';
import {h, replace} from '../../dom.js';
import {count, number, plural} from '../../format.js';
import {predict} from '../../parts/explain.js';
import {failure} from '../../parts/failure.js';
import {field} from '../../parts/field.js';
import {saidOf} from '../../parts/said.js';

/** C-MAPSS has no header; this is what the service calls its first column. */
const CMAPSS_SEQUENCE = 'unit';
const isNumber = (word) => word !== '' && Number.isFinite(Number(word));

function numbers(row, i) {
  return row.map((word = '') => {
    if (!isNumber(word)) {
      throw new Error(`Step ${i + 1}: "${word}" is no number.`);
    }
    return Number(word);
  });
}

/** A file like the data set's own has more columns than a network takes, and perhaps more sequences than one. */
function takeInputs(head, rows, {inputs, sequence}) {
  const places = head.map((_, i) => i).filter((i) => inputs.includes(head[i]));
  const at = head.indexOf(sequence);
  const several = new Set(at < 0 ? [] : rows.map((row) => row[at])).size;
  if (several > 1) {
    throw new Error(`These are ${count(several)} sequences by "${sequence}"; ask about one.`);
  }
  const taken = inputs.length > 0 && places.length === inputs.length ? places : head.map((_, i) => i);
  return {columns: taken.map((i) => head[i]), sequence: rows.map((row) => taken.map((i) => row[i])).map(numbers)};
}

/**
 * Rows of numbers as people paste them: one step a line, separated by commas, semicolons, tabs or spaces; the first line
 * may be names.
 * @param {string} text
 * @param {{inputs: string[], sequence: string=}} known columns of the data set
 * @returns {{sequence: number[][], columns?: string[]}}
 */
export function parseRows(text, known) {
  const rows = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean)
    .map((line) => (/[,;\t]/.test(line) ? line.split(/\s*[,;\t]\s*/) : line.split(/\s+/)));
  if (rows.length === 0) {
    throw new Error('There are no rows.');
  }
  return rows[0].every(isNumber) ? {sequence: rows.map(numbers)} : takeInputs(rows[0], rows.slice(1), known);
}

/** Rows without names that have a number for every column of the data set are in its order. */
function withNames(posted, names) {
  const all = !posted.columns && posted.sequence.every((row) => row.length === names.length);
  return all ? {...posted, columns: names} : posted;
}

function answerView({result}) {
  if (result.classes) {
    return h('section', {class: 'card', 'data-test': 'answer'}, saidOf(result));
  }
  const {target, steps, values, last} = result;
  const first = steps - values.length + 1;
  const words = `${target ?? 'target'} over ${plural(steps, 'step')}, ${number(last)} at the last`;
  return h('section', {class: 'card', 'data-test': 'answer'},
    h('p', {class: 'answer'}, h('b', {'data-test': 'predicted'}, number(last)), h('span', {class: 'muted'}, ` ${target ?? ''} at step ${steps}`)),
    values.length > 1 ? lines({steps: values.map((_, i) => first + i), series: [{name: 'predicted', values}]}, {xLabel: 'step', yLabel: target ?? 'target', label: words}) : null);
}

/** A sequence of one's own: pasted, or from a file. */
export function sequenceForm(trial, scope) {
  const text = h('textarea', {rows: 8, class: 'mono rows', spellcheck: 'false', 'data-test': 'rows', placeholder: '0.1, 3.2, 518.67\n0.1, 3.3, 518.67'});
  const result = h('div', {'aria-live': 'polite', 'data-test': 'result'});
  const names = h('p', {class: 'small muted break'});
  let known = {inputs: [], sequence: undefined};
  get(`/v1/datasets/${trial.dataset}`, scope).then(({report, options, layout}) => {
    const sequence = layout === 'cmapss' ? CMAPSS_SEQUENCE : options?.table?.sequence;
    known = {inputs: (report?.inputs ?? []).map(({name}) => name), sequence};
    names.textContent = `Columns of the data set: ${known.inputs.join(', ')}.`;
  }).catch((error) => scope.signal.aborted || replace(names, failure(error)));
  const show = async () => {
    const posted = withNames(parseRows(text.value, known), known.inputs);
    replace(result, h('p', {class: 'muted', role: 'status'}, 'The network looks at it …'));
    const content = new Blob([JSON.stringify(posted)], {type: 'application/json'});
    replace(result, answerView(await predict(trial.id, content, scope.signal)));
  };
  const say = (error) => scope.signal.aborted || replace(result, failure(error));
  const file = h('input', {type: 'file', accept: '.csv,.txt,.tsv,text/*', 'data-test': 'choose', on: {change: async () => { text.value = await file.files[0].text(); }}});
  return h('div', {class: 'stack'}, h('form', {class: 'card', on: {submit: (event) => { event.preventDefault(); show().catch(say); }}},
    field('Steps', text, 'One step a line; the first line may be the names of the columns, in any order. Other columns are left out.'), names,
    h('div', {class: 'row between'}, field('Or from a file', file), h('button', {class: 'primary', 'data-test': 'ask'}, 'Predict'))), result);
}
