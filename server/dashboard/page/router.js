/** From the address behind `#` to a view. A view's file is read when it is first shown. */

const ROUTES = [
  {pattern: /^\/$/, view: 'home', section: 'home'},
  {pattern: /^\/experiments\/([0-9a-f]{32})$/, view: 'experiment', section: 'home'},
  {pattern: /^\/jobs\/([0-9a-f]{32})$/, view: 'job', section: 'home'},
  {pattern: /^\/trials\/([0-9a-f]{32})$/, view: 'trial', section: 'home'},
  {pattern: /^\/compare$/, view: 'compare', section: 'home'},
  {pattern: /^\/datasets$/, view: 'datasets', section: 'datasets'},
  {pattern: /^\/datasets\/([0-9a-f]{32})$/, view: 'dataset', section: 'datasets'},
  {pattern: /^\/weights$/, view: 'weights', section: 'weights'},
  {pattern: /^\/networks$/, view: 'networks', section: 'networks'},
  {pattern: /^\/networks\/([^/]+)$/, view: 'network', section: 'networks'},
  {pattern: /^\/submit$/, view: 'submit', section: 'submit'},
];

/** @returns {{path: string, query: URLSearchParams}} of an address such as "#/jobs/1f?tab=log" */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return {path: path || '/', query: new URLSearchParams(query)};
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @returns {?{view: string, section: string, parameters: string[]}} null: no such address */
export function match(path) {
  for (const {pattern, view, section} of ROUTES) {
    const found = pattern.exec(path);
    if (found) {
      return {view, section, parameters: found.slice(1).map(decoded)};
    }
  }
  return null;
}

/** @returns {string} an address; null and "" leave a parameter out */
export function link(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given).toString();
  return `#${path}${text ? `?${text}` : ''}`;
}

/**
 * What a view gets beside its parameters. `query` is live: setQuery changes it and the address, without
 * showing the view anew and without a step back for each key typed.
 * @returns {{signal: AbortSignal, query: URLSearchParams, setQuery: function(Object), title: function(string)}}
 */
export function scopeOf(path, query, signal) {
  return {
    signal,
    query,
    setQuery(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === '') {
          query.delete(name);
        } else {
          query.set(name, value);
        }
      }
      history.replaceState(null, '', link(path, Object.fromEntries(query)));
    },
    title(text) {
      document.title = text ? `${text} · Assay` : 'Assay';
    },
  };
}
