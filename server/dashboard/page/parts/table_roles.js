/** What the columns of tables of sequences mean: a preview of the first file with a role for each column. */

import {h, replace} from '../dom.js';
import {choice, field} from './field.js';

const PREVIEW_BYTES = 65536;
const PREVIEW_ROWS = 6;
const SEPARATORS = [[';', 'semicolon'], ['\t', 'tab'], [',', 'comma']];
const ROLES = [['inputs', 'input'], ['sequence', 'tells sequences apart'], ['time', 'time'], ['target', 'target'], ['ignore', 'leave out']];
const GUESSES = [[/^(id|unit|engine|sequence|series|run|machine)/i, 'sequence'], [/^(t|time|cycle|step|day|date|hour)s?$/i, 'time'],
  [/^(target|y|rul|label|output)$/i, 'target']];
const FILE_ROLES = ['train', 'validation', 'test', 'validation_end_of_life', 'test_end_of_life'];

/** Rows of fields, as good as a preview needs: quotes around fields without separators in them. */
function preview(text) {
  const rows = text.split(/\r?\n/).filter((row) => row.trim()).slice(0, PREVIEW_ROWS);
  const separator = SEPARATORS.find(([mark]) => rows[0]?.includes(mark));
  return rows.map((row) => (separator ? row.split(separator[0]) : row.trim().split(/\s+/)).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')));
}

function hasHeader([first]) {
  return Boolean(first?.some((cell) => cell !== '' && Number.isNaN(Number(cell.replace(',', '.')))));
}

function guess(name) {
  return GUESSES.find(([pattern]) => pattern.test(name))?.[1] ?? 'inputs';
}

async function headOf(file) {
  const isPacked = file.name.endsWith('.gz');
  return isPacked ? null : preview(await file.slice(0, PREVIEW_BYTES).text());
}

function rolesTable(columns, rows, selects) {
  return h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Columns'}, h('table', {'data-test': 'table-columns'},
    h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col'}, name))), h('tr', {}, selects.map((one) => h('th', {}, one)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, columns.map((_, i) => h('td', {class: 'numeric'}, row[i] ?? '')))))));
}

/** Columns by role; a column is named by its heading, or by its number when it has none. */
function columnsOf(columns, selects, isNamed) {
  const found = {};
  selects.forEach(({value}, i) => (found[value] ??= []).push(isNamed ? columns[i] : i + 1));
  return found;
}

function fileRoles(files) {
  const rows = files.map((file) => [file.name, choice([['', 'by its name'], ...FILE_ROLES.map((role) => [role, role.replaceAll('_', ' ')])], {})]);
  return {
    element: files.length > 1 ? h('div', {class: 'form-grid'}, rows.map(([name, control]) => field(name, control))) : null,
    read: () => Object.fromEntries(rows.filter(([, control]) => control.value).map(([name, control]) => [name, control.value])),
  };
}

/** The document that the API takes as `table`. */
function document({columns, selects, isNamed}, task, life, missing, roles) {
  const {sequence, time, target, ignore} = columnsOf(columns, selects, isNamed);
  const files = roles?.read() ?? {};
  return {
    task: task.value === 'classification' ? task.value : undefined,
    remaining_life: life.checked || undefined,
    missing: missing.value || undefined,
    sequence: sequence?.[0], time: time?.[0], ignore,
    target: target?.length === 1 ? target[0] : target,
    files: Object.keys(files).length ? files : undefined,
  };
}

/** @returns {{element: HTMLElement, files: function(File[]), read: function(): Object}} */
export function tableRoles() {
  const place = h('div', {class: 'stack', 'data-pointer': '/table'}, h('p', {class: 'muted'}, 'The columns are shown when files are chosen.'));
  const task = choice([['', 'a number at each step'], ['classification', 'a class of the sequence']], {'data-pointer': '/table/task'});
  const life = h('input', {type: 'checkbox', 'data-pointer': '/table/remaining_life', 'data-test': 'table-life'});
  const missing = choice([['', 'refuse the sequence'], ['previous', 'the value before'], ['mean', 'the mean of the column']], {'data-pointer': '/table/missing'});
  let state = {columns: [], selects: [], isNamed: false};
  let roles = null;
  const files = async (list) => {
    roles = fileRoles(list);
    const rows = list.length ? await headOf(list[0]) : null;
    if (!rows?.length) {
      replace(place, h('p', {class: 'muted'}, 'No preview of this file; all columns are inputs.'), roles.element);
      return;
    }
    const isNamed = hasHeader(rows);
    const columns = isNamed ? rows[0] : rows[0].map((_, i) => String(i + 1));
    const selects = columns.map((name) => choice(ROLES, {'aria-label': `Role of ${name}`, value: isNamed ? guess(name) : 'inputs'}));
    state = {columns, selects, isNamed};
    replace(place, rolesTable(columns, isNamed ? rows.slice(1) : rows, selects), roles.element);
  };
  const element = h('div', {class: 'stack'}, place, h('div', {class: 'form-grid'}, field('What is predicted', task), field('Inputs without a value', missing),
    h('label', {class: 'plain'}, life, 'The target is the time left to the end of each sequence')));
  return {element, files, read: () => ({table: document(state, task, life, missing, roles)})};
}
