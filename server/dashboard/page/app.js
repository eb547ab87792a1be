/** The page: draws the frame and shows the view that the address names. */

import {h, replace} from './dom.js';
import {frame} from './frame.js';
import {match, parse, scopeOf} from './router.js';

function card(title, text) {
  return h('section', {class: 'card', role: 'alert', 'data-test': 'view-error'}, h('h1', {}, title), h('p', {}, text));
}

async function build(route, scope) {
  if (!route) {
    return card('No such page', 'Nothing lies at this address.');
  }
  try {
    const {view} = await import(`./views/${route.view}.js`);
    return view(route.parameters, scope);
  } catch (error) {
    console.error(error);
    return card('This view cannot be shown', error.message);
  }
}

function start() {
  const {main, mark} = frame();
  let leave = new AbortController();
  const show = async (isFirst) => {
    leave.abort(new DOMException('the view was left', 'AbortError'));
    leave = new AbortController();
    const {signal} = leave;
    const {path, query} = parse(location.hash);
    const route = match(path);
    const scope = scopeOf(path, query, signal);
    scope.title('');
    mark(route?.section);
    const element = await build(route, scope);
    if (signal.aborted) {
      return; // the next view was faster
    }
    replace(main, element);
    if (!isFirst) {
      scrollTo(0, 0);
      main.focus({preventScroll: true}); // a reader of screens begins at the new view
    }
  };
  addEventListener('hashchange', () => show(false));
  show(true);
}

start();
