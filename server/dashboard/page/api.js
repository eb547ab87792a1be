/**
 * The public API, and nothing else, over fetch. A read waits while the server is away and while
 * nobody has signed in, so a view never has to; what it is told about is what it can do something
 * about.
 */

import {away, back, pause, signIn, token} from './connection.js';

/** The page may lie below a prefix of a proxy; the API lies beside it. */
const ROOT = new URL('..', import.meta.url);
const AWAY = new Set([0, 502, 503, 504]);
const HIDDEN_FACTOR = 15;
const ERROR_FACTOR = 4;

/** What the service, or the way to it, said instead of an answer. */
export class ApiError extends Error {
  /**
   * @param {{status: number, code: string, detail: string, pointer?: string, body?: Object}} problem
   */
  constructor({status, code, detail, pointer = null, body = null}) {
    super(detail || code);
    this.status = status;
    this.code = code;
    this.detail = detail || code;
    this.pointer = pointer;
    this.body = body;
  }
}

/** @returns {URL} the address of a path of the API such as "/v1/jobs" */
export function address(path) {
  return new URL(path.replace(/^\//, ''), ROOT);
}

async function problemOf(answer) {
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // A proxy between may answer in HTML.
  }
  return new ApiError({
    status: answer.status,
    code: body?.code ?? `http_${answer.status}`,
    detail: body?.detail ?? body?.title ?? answer.statusText,
    pointer: body?.pointer ?? body?.parameter,
    body,
  });
}

/** One request. Answers 2xx and 304; everything else throws an ApiError. */
async function ask(method, path, {headers = {}, body, signal} = {}) {
  const authorization = token() ? {Authorization: `Bearer ${token()}`} : {};
  let answer;
  try {
    answer = await fetch(address(path), {
      method, body, signal, cache: 'no-store', headers: {...authorization, ...headers},
    });
  } catch (error) {
    if (signal?.aborted) {
      throw error;
    }
    throw new ApiError({status: 0, code: 'unreachable', detail: 'The server cannot be reached.'});
  }
  if (answer.ok || answer.status === 304) {
    return answer;
  }
  throw await problemOf(answer);
}

/** Asks until there is an answer that waiting would not change. */
async function askPatiently(method, path, options, waitsForServer) {
  for (let failures = 0; ; failures++) {
    const used = token();
    try {
      const answer = await ask(method, path, options);
      back();
      return answer;
    } catch (error) {
      if (error.status > 0 && !AWAY.has(error.status)) {
        back();
      }
      if (error.status === 401) {
        if (token() === used) { // else another one was entered while this was on its way
          await signIn(error.detail, options.signal);
        }
      } else if (waitsForServer && AWAY.has(error.status)) {
        away(error.detail);
        await pause(Math.min(500 * 2 ** failures, 8000), options.signal);
      } else {
        throw error;
      }
    }
  }
}

/**
 * Reads a resource.
 * @returns {Promise<Object>}
 */
export async function get(path, {signal} = {}) {
  return (await askPatiently('GET', path, {signal}, true)).json();
}

/**
 * Reads bytes, e.g. a picture or a table as CSV.
 * @returns {Promise<Blob>}
 */
export async function blob(path, {accept = '*/*', signal} = {}) {
  return (await askPatiently('GET', path, {signal, headers: {Accept: accept}}, true)).blob();
}

async function jsonOf(answer) {
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/**
 * Changes something. A POST carries a key, so that a repeated one is not done twice.
 * @param {string} method
 * @param {string} path
 * @param {?Object} body sent as JSON; undefined: no body
 * @returns {Promise<?Object>} the answer; null where it is empty
 */
export async function send(method, path, body, {signal} = {}) {
  const headers = body === undefined ? {} : {'Content-Type': 'application/json'};
  if (method === 'POST') {
    headers['Idempotency-Key'] = idempotencyKey();
  }
  const text = body === undefined ? undefined : JSON.stringify(body);
  return jsonOf(await askPatiently(method, path, {headers, body: text, signal}, false));
}

/**
 * Asks something that takes a body and changes nothing, and waits for the answer as `get` does.
 * @param {string} path
 * @param {Object} body
 * @returns {Promise<Object>}
 */
export async function inquire(path, body, {signal} = {}) {
  const options = {headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal};
  return (await askPatiently('POST', path, options, true)).json();
}

/** randomUUID is there only over TLS and on loopback. */
function idempotencyKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, '0')).join('');
}

/**
 * Sends bytes as they are.
 * @param {Blob} content its type is the content type, "" for application/octet-stream
 * @returns {Promise<?Object>}
 */
export async function upload(method, path, content, {signal} = {}) {
  const headers = {'Content-Type': content.type || 'application/octet-stream'};
  return jsonOf(await askPatiently(method, path, {headers, body: content, signal}, false));
}

/** One round of a poll; the tag to ask with next time. */
async function pollOnce(path, tag, onData, signal) {
  const headers = tag ? {'If-None-Match': tag} : {};
  const answer = await askPatiently('GET', path, {headers, signal}, true);
  if (answer.status !== 304) {
    const data = await answer.json();
    if (!signal?.aborted) {
      onData(data);
    }
  }
  return answer.headers.get('ETag');
}

/**
 * Reads a resource again and again, and tells when it has changed. Hidden pages ask seldom, and at
 * once when they are shown again. Ends with the signal.
 * @param {string|function(): string} path a function is asked each time
 * @param {function(Object)} onData
 * @param {{signal: AbortSignal, interval?: number, onError?: function(Error), wake?: EventTarget}} options
 *   wake: its event `changed` makes the next round come at once, e.g. after one has changed something; onError: an answer that is not one, e.g. 404; without it that goes to the console
 */
export async function poll(path, onData, {signal, interval = 2000, onError = console.error, wake = null} = {}) {
  let tag = null;
  let last = null;
  while (!signal?.aborted) {
    let factor = 1;
    try {
      const now = typeof path === 'function' ? path() : path;
      tag = await pollOnce(now, now === last ? tag : null, onData, signal);
      last = now;
    } catch (error) {
      if (signal?.aborted) {
        return;
      }
      last = null;
      factor = ERROR_FACTOR;
      onError(error);
    }
    await pause(interval * (document.hidden ? HIDDEN_FACTOR : factor), signal, wake ?? document).catch(() => {});
  }
}

/**
 * Every item of a list, page by page.
 * @param {string} path may have a query, e.g. its `limit`
 */
export async function* pages(path, {signal} = {}) {
  for (let cursor = null; ; ) {
    const mark = path.includes('?') ? '&' : '?';
    const page = await get(cursor ? `${path}${mark}cursor=${encodeURIComponent(cursor)}` : path, {signal});
    yield* page.items;
    cursor = page.next_cursor;
    if (!cursor) {
      return;
    }
  }
}
