/**
 * A table that draws only the rows in sight, so that thousands scroll like ten. Rows whose trial has not
 * changed are left alone.
 */

import {h, replace, set} from '../../dom.js';
import {arrange} from '../../parts/keyed.js';
import {sortSign} from '../../parts/sort.js';

const ROW = 38; // pixels, as in trials.css
const SPARE = 8; // rows drawn beyond what is seen
const CHECK_WIDTH = 40;
const EDGE_WIDTH = 24; // what the hint of further columns covers, as in base.css

/** Widths of columns in so much room: those that must be seen together become narrower, as far as they can. */
function widthsIn(columns, room) {
  const together = columns.filter(({least}) => least);
  const sum = (widths) => widths.reduce((all, width) => all + width, 0);
  const most = sum(together.map(({width}) => width));
  const least = sum(together.map((column) => column.least));
  const share = most > least && room > 0 ? Math.min(1, Math.max(0, (room - least) / (most - least))) : 1;
  return {isTight: share < 1, widths: columns.map(({width, least: own}) => (own ? Math.floor(own + share * (width - own)) : width))};
}

/** A table of trials. */
export class TrialTable {
  #columns = [];
  #rows = [];
  #drawn = new Map(); // id -> {row, element, chosen, columns}
  #frame = 0;
  #sort;
  #selection;
  #top = h('tr', {class: 'spacer', 'aria-hidden': 'true'}, h('td', {}));
  #bottom = h('tr', {class: 'spacer', 'aria-hidden': 'true'}, h('td', {}));
  #body = h('tbody', {});
  #head = h('tr', {});
  #widths = h('colgroup', {});
  #laidOut = '';
  #table;

  /** The box that scrolls. */
  element;

  /**
   * @param {{key: ?string, descending: boolean, choose: function(string)}} sort
   * @param {import('./selection.js').Selection} selection
   */
  constructor(sort, selection) {
    this.#sort = sort;
    this.#selection = selection;
    this.#table = h('table', {class: 'trials', 'data-test': 'trials'}, this.#widths, h('thead', {}, this.#head), this.#body);
    this.element = h('div', {class: 'table-box trials-box', tabindex: '0', role: 'region', 'aria-label': 'Trials', on: {scroll: () => this.#later()}}, this.#table);
    new ResizeObserver(() => {
      this.#layOut();
      this.#later();
    }).observe(this.element);
    selection.addEventListener('change', () => {
      this.#drawHead();
      this.#draw();
    });
  }

  /** @param {import('./columns.js').Column[]} columns */
  setColumns(columns) {
    const isSame = columns.length === this.#columns.length && columns.every(({key}, i) => key === this.#columns[i].key);
    if (!isSame) {
      this.#columns = columns;
      this.#drawn.clear();
      set(this.#table, {'aria-colcount': String(columns.length + 1)});
      this.#layOut();
    }
    this.#drawHead();
  }

  /** @param {Object[]} rows in the order in which they are shown */
  setRows(rows) {
    this.#rows = rows;
    set(this.#table, {'aria-rowcount': String(rows.length + 1)});
    this.#draw();
  }

  #layOut() {
    const {isTight, widths} = widthsIn(this.#columns, this.element.clientWidth - CHECK_WIDTH - EDGE_WIDTH);
    const all = [CHECK_WIDTH, ...widths];
    if (this.#laidOut !== all.join()) {
      this.#laidOut = all.join();
      replace(this.#widths, all.map((pixels) => h('col', {style: {width: `${pixels}px`}})));
      set(this.#table, {style: {'min-width': `${all.reduce((sum, width) => sum + width)}px`}});
      this.#table.classList.toggle('tight', isTight);
    }
  }

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #drawHead() {
    const all = h('input', {type: 'checkbox', 'aria-label': 'Select all trials shown', 'data-test': 'select-all'});
    all.checked = this.#rows.length > 0 && this.#rows.every(({id}) => this.#selection.has(id));
    all.addEventListener('change', () => this.#selection.setAll(this.#rows.map(({id}) => id), all.checked));
    const focused = document.activeElement?.dataset?.sort;
    replace(this.#head, h('th', {scope: 'col', class: 'check'}, all), this.#columns.map((column) => this.#headCell(column)));
    if (focused) {
      this.#head.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  #headCell({key, label, title, numeric}) {
    const isSorted = this.#sort.key === key;
    const direction = this.#sort.descending ? 'descending' : 'ascending';
    const sign = sortSign(isSorted, this.#sort.descending);
    return h('th', {scope: 'col', 'data-column': key, class: numeric ? 'numeric' : null, 'aria-sort': isSorted ? direction : null, title: title ?? label},
      h('button', {class: 'sort', type: 'button', 'data-sort': key, 'data-test': `sort-${key}`, on: {click: () => this.#sort.choose(key)}}, label, sign));
  }

  /** The rows in sight. Rows may have become fewer since the box was scrolled. */
  #window() {
    const {scrollTop, clientHeight} = this.element;
    const seen = Math.ceil(clientHeight / ROW);
    const first = Math.max(0, Math.min(Math.floor(scrollTop / ROW), this.#rows.length - seen) - SPARE);
    return [first, Math.min(this.#rows.length, first + seen + 2 * SPARE)];
  }

  #draw() {
    const [first, end] = this.#window();
    const shown = this.#rows.slice(first, end);
    const elements = shown.map((row, i) => set(this.#rowElement(row), {'aria-rowindex': String(first + i + 2)}));
    set(this.#top.firstChild, {style: {height: `${first * ROW}px`}});
    set(this.#bottom.firstChild, {style: {height: `${(this.#rows.length - end) * ROW}px`}});
    arrange(this.#body, [this.#top, ...elements, this.#bottom]);
    const kept = new Set(shown.map(({id}) => id));
    for (const id of this.#drawn.keys()) {
      if (!kept.has(id)) {
        this.#drawn.delete(id);
      }
    }
  }

  #rowElement(row) {
    const chosen = this.#selection.has(row.id);
    const old = this.#drawn.get(row.id);
    const isEdited = old?.element.querySelector('.editable input, .editable textarea');
    if (old && ((old.row === row && old.chosen === chosen) || isEdited)) {
      return old.element;
    }
    const element = this.#buildRow(row, chosen);
    this.#drawn.set(row.id, {row, element, chosen});
    return element;
  }

  #buildRow(row, chosen) {
    const check = h('input', {type: 'checkbox', 'aria-label': `Select trial ${row.index}`, checked: chosen});
    check.addEventListener('change', () => this.#selection.set(row.id, check.checked));
    return h('tr', {'data-test': 'trial-row', 'data-id': row.id, class: [chosen ? 'chosen' : '', row.discarded ? 'discarded' : ''].join(' ')},
      h('td', {class: 'check'}, check),
      this.#columns.map((column) => h('td', {class: column.numeric ? 'numeric' : null, 'data-column': column.key}, column.cell(row))));
  }
}
