/** The live table of a job's trials, with everything that narrows, orders and annotates it. */

import {send} from '../../api.js';
import {h, replace} from '../../dom.js';
import {count, plural} from '../../format.js';
import {editable, editableLabels} from '../../parts/edit.js';
import {sideways} from '../../parts/sideways.js';
import {nextSort, sorted} from '../../parts/sort.js';
import {targetsNote} from '../../parts/targets.js';
import {columnsOf} from './columns.js';
import {Rows} from './rows.js';
import {Selection} from './selection.js';
import {textFilter} from './select.js';
import {TrialTable} from './table.js';
import {selectionBar, toolbar} from './toolbar.js';

/** Which columns somebody hid or showed, by kind of job, kept in the browser. */
function keptChoice(kind) {
  const key = `assay.columns.${kind}`;
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {
    // What cannot be read is as good as none.
  }
  return {
    isHidden: (column) => kept[column.key] ?? column.hidden ?? false,
    toggle: (column, hidden) => {
      kept[column.key] = hidden;
      try {
        localStorage.setItem(key, JSON.stringify(kept));
      } catch {
        // Then it holds for this visit.
      }
    },
  };
}

/** Notes and labels: edited in their cells. */
function annotations(after) {
  const patch = (row, changes) => send('PATCH', `/v1/trials/${row.id}`, changes).then(after);
  return [
    {key: 'labels', label: 'Labels', width: 160, of: (row) => row.labels.join(', '),
      cell: (row) => editableLabels(row.labels, (labels) => patch(row, {labels}), {label: `Labels of trial ${row.index}`, name: 'trial-labels'})},
    {key: 'notes', label: 'Notes', width: 220, of: (row) => row.notes,
      cell: (row) => editable(row.notes, (notes) => patch(row, {notes}), {label: `Notes of trial ${row.index}`, name: 'trial-notes'})},
  ];
}

/** Which rows the address asks for. */
function filterOf(query, columns) {
  const state = query.get('state');
  const discarded = query.get('discarded') === 'true';
  const words = textFilter(query.get('filter') ?? '', columns);
  return (row) => (!state || row.state === state) && (discarded || !row.discarded) && words(row);
}

/**
 * @param {Object} job
 * @param {Object} scope of the view
 * @returns {HTMLElement} with a method `refresh()`
 */
export function trials(job, {signal, query, setQuery}) {
  const selection = new Selection();
  const choice = keptChoice(job.kind);
  const shownCount = h('p', {class: 'muted small', role: 'status', 'data-test': 'trial-count'}, 'Reading …');
  let columns = [];

  const sort = {
    get key() { return query.get('sort'); },
    get descending() { return query.get('order') === 'descending'; },
    choose: (key) => change(nextSort(query, key)),
  };
  const table = new TrialTable(sort, selection);
  const own = annotations(() => rows.refresh());
  const show = () => {
    const all = rows.all;
    columns = columnsOf(all, rows.metrics, job.headline_metric, own, job.target_parameters);
    table.setColumns(columns.filter((column) => !choice.isHidden(column)));
    const fitting = sorted(all.filter(filterOf(query, columns)), columns.find(({key}) => key === sort.key) ?? null, sort.descending);
    table.setRows(fitting);
    replace(shownCount, fitting.length === all.length ? plural(all.length, 'trial') : `${count(fitting.length)} of ${plural(all.length, 'trial')}`);
  };
  const rows = new Rows(job.id, show, signal);
  const change = (changes) => {
    setQuery(changes);
    show();
  };
  const toggle = (column, hidden) => {
    choice.toggle(column, hidden);
    show();
  };
  const element = h('div', {class: 'stack'},
    toolbar(job, {query, change, columns: () => columns, isHidden: choice.isHidden, toggle, signal}),
    selectionBar(selection, () => rows.refresh()), sideways(table.element), shownCount, targetsNote(job.target_parameters, 'muted small'));
  element.refresh = () => rows.refresh();
  return element;
}
