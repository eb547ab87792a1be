/**
 * What all requests share: the token, whether the server answers, and waiting. Whoever shows it
 * (frame.js) listens for the events `away`, `back` and `signin`.
 */

const KEY = 'assay.token';

/** Events: `away` and `signin` with {detail: text}, `back`. */
export const connection = new EventTarget();

let isAway = false;
let entered = null; // {promise, resolve} while a token is asked for
let inMemory = null; // for browsers that keep nothing

/** @returns {?string} what was signed in with */
export function token() {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

/** Keeps a token for this tab (null: forgets it) and lets waiting requests go on. */
export function setToken(text) {
  inMemory = text;
  try {
    if (text === null) {
      sessionStorage.removeItem(KEY);
    } else {
      sessionStorage.setItem(KEY, text);
    }
  } catch {
    // It is kept in memory.
  }
  entered?.resolve();
  entered = null;
}

/** Waits until somebody has entered a token. Rejects with the signal. */
export function signIn(reason, signal) {
  if (!entered) {
    let resolve;
    const promise = new Promise((done) => { resolve = done; });
    entered = {promise, resolve};
    connection.dispatchEvent(new CustomEvent('signin', {detail: reason}));
  }
  return Promise.race([entered.promise, abortion(signal)]);
}

/** The server did not answer. */
export function away(reason) {
  if (!isAway) {
    isAway = true;
    connection.dispatchEvent(new CustomEvent('away', {detail: reason}));
  }
}

/** It did. */
export function back() {
  if (isAway) {
    isAway = false;
    connection.dispatchEvent(new Event('back'));
  }
}

/** Never resolves; rejects when the signal is aborted. */
function abortion(signal) {
  return new Promise((_, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
    }
    signal?.addEventListener('abort', () => reject(signal.reason), {once: true});
  });
}

/**
 * Waits. Rejects with the signal.
 * @param {?EventTarget} wake ends it early: its event `changed`, or that a hidden page is shown
 */
export function pause(milliseconds, signal, wake = null) {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const end = (settle, value) => {
      clearTimeout(timer);
      done.abort();
      settle(value);
    };
    const timer = setTimeout(() => end(resolve), milliseconds);
    if (signal?.aborted) {
      end(reject, signal.reason);
      return;
    }
    signal?.addEventListener('abort', () => end(reject, signal.reason), {signal: done.signal});
    if (wake) {
      wake.addEventListener('changed', () => end(resolve), {signal: done.signal});
      document.addEventListener('visibilitychange', () => document.hidden || end(resolve), {signal: done.signal});
    }
  });
}
