import {get, poll} from '../api.js';
import {h, replace} from '../dom.js';
import {failure} from '../parts/failure.js';
import {trialHead} from '../parts/trial_head.js';
import {link} from '../router.js';
import {tabs} from './trial/tabs.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);

/** A tab is chosen without showing the view anew, and with a step back in the browser's history. */
function onTabClick(event, name, choose) {
  if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    history.pushState(null, '', event.currentTarget.getAttribute('href'));
    choose(name);
  }
}

function tabLinks(shown, chosen, id, choose) {
  return shown.map(({name, label}) => h('a', {
    href: link(`/trials/${id}`, {tab: name}), 'aria-current': name === chosen?.name ? 'page' : null, 'data-test': `tab-${name}`,
    on: {click: (event) => onTabClick(event, name, choose)},
  }, label));
}

/** On a telephone the chosen link may stand beyond the edge. Moves the row alone, not the page. */
function reveal(links) {
  const link = links.querySelector('[aria-current]');
  if (link) {
    links.scrollLeft = link.offsetLeft - links.offsetLeft - (links.clientWidth - link.offsetWidth) / 2;
  }
}

/**
 * The tabs below the head: their links, and what the chosen one shows. That is made anew when another
 * one is chosen and when the trial has ended or begun again: there is more to see then.
 */
function tabBox(id, job, scope) {
  const links = h('nav', {class: 'tabs', 'aria-label': 'What of the trial'});
  const body = h('div', {'data-test': 'tab-body'});
  let stop = new AbortController();
  let shownKey = '';
  const update = (trial) => {
    const shown = tabs.filter((tab) => tab.applies(trial, job));
    const chosen = shown.find(({name}) => name === scope.query.get('tab')) ?? shown[0];
    const key = [chosen?.name, OVER.has(trial.state), trial.attempt, ...shown.map(({name}) => name)].join(' ');
    if (key === shownKey) {
      return;
    }
    shownKey = key;
    stop.abort();
    stop = new AbortController();
    const signal = AbortSignal.any([scope.signal, stop.signal]);
    replace(links, tabLinks(shown, chosen, id, (name) => {
      scope.query.set('tab', name);
      update(trial);
    }));
    requestAnimationFrame(() => reveal(links));
    body.dataset.tab = chosen?.name ?? '';
    replace(body, chosen ? chosen.show(trial, job, {...scope, signal}) : null);
  };
  return {element: h('div', {class: 'stack'}, links, body), update};
}

/** One trial: what it is, kept up to date, and tabs of what it left. */
export function view([id], scope) {
  const {signal, title} = scope;
  const box = h('section', {class: 'view', 'data-test': 'trial'}, h('p', {class: 'empty'}, 'Loading …'));
  const fill = async () => {
    const first = await get(`/v1/trials/${id}`, {signal});
    const job = await get(`/v1/jobs/${first.job.id}`, {signal});
    title(`Trial ${first.index} · ${job.name}`);
    const show = (trial) => {
      head.update(trial);
      below.update(trial);
    };
    const again = async () => show(await get(`/v1/trials/${id}`, {signal}));
    const head = trialHead(job, first, again);
    const below = tabBox(id, job, scope);
    show(first);
    replace(box, head, below.element);
    poll(`/v1/trials/${id}`, show, {signal});
  };
  fill().catch((error) => signal.aborted || replace(box, failure(error)));
  return box;
}
