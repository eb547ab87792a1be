/**
 * Puts work off until nothing has asked for it for a while; newer work calls off what still runs.
 * @param {function(AbortSignal): Promise} work
 * @param {number} milliseconds
 * @param {AbortSignal} signal of the view: aborted, nothing runs any more
 * @returns {function(number=)} asks for the work, after so many milliseconds when it is told
 */
export function later(work, milliseconds, signal) {
  let timer = null;
  let running = new AbortController();
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    running.abort(signal.reason);
  });
  return (delay = milliseconds) => {
    clearTimeout(timer);
    running.abort(new DOMException('newer work', 'AbortError'));
    running = new AbortController();
    const {signal: own} = running;
    timer = setTimeout(() => signal.aborted || work(own), delay);
  };
}
