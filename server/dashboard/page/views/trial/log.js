import {poll} from '../../api.js';
import {h, replace} from '../../dom.js';
import {time} from '../../format.js';
import {failure} from '../../parts/failure.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const PAGE = 500;
const NEAR_END = 40; // pixels

function lineOf({level, text, created_at: at, fence}) {
  return h('li', {class: `log-line level-${level}`, 'data-test': 'log-line'},
    h('span', {class: 'muted nowrap'}, time(at)), h('span', {class: 'log-level'}, level),
    h('span', {class: 'break', title: `attempt ${fence}`}, text));
}

/** Reads on from the last page that was full; what is new is added, what is there stays. */
function follow(trial, list, scope, onLines) {
  const seen = {n: 0};
  let cursor = null;
  const path = () => `/v1/trials/${trial.id}/log?limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
  const stop = new AbortController();
  const take = (answer) => {
    const fresh = answer.items.filter(({n}) => n > seen.n);
    list.append(...fresh.map(lineOf));
    seen.n = fresh.at(-1)?.n ?? seen.n;
    cursor = answer.next_cursor ?? cursor;
    onLines(fresh.length);
    if (OVER.has(trial.state) && !answer.next_cursor) {
      stop.abort();
    }
  };
  poll(path, take, {
    signal: AbortSignal.any([scope.signal, stop.signal]),
    onError: (error) => replace(list, h('li', {}, failure(error))),
  });
}

/** What the trial and its supervisor said, over all attempts. */
export const tab = {
  name: 'log',
  label: 'Log',
  applies: () => true,
  show(trial, job, scope) {
    const list = h('ol', {class: 'log', 'data-test': 'log'});
    const box = h('div', {class: 'log-box', tabindex: '0', role: 'log', 'aria-label': 'Log'}, list);
    const empty = h('p', {class: 'empty'}, 'Nothing has been said yet.');
    const select = h('select', {'aria-label': 'Least level', 'data-test': 'log-level'},
      ['debug', 'info', 'warn', 'error'].map((level) => h('option', {value: level, selected: level === 'debug'}, `${level} and above`)));
    select.addEventListener('change', () => { list.dataset.least = select.value; });
    follow(trial, list, scope, (added) => {
      const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END || list.childElementCount === added;
      empty.hidden = list.childElementCount > 0;
      box.hidden = !empty.hidden;
      if (added > 0 && isAtEnd) { // who reads further up is not moved
        requestAnimationFrame(() => { box.scrollTop = box.scrollHeight; });
      }
    });
    return h('div', {class: 'stack'}, h('div', {class: 'row'}, select), empty, box);
  },
};
