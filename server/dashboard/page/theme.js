// The theme, light or dark, as data-theme of the root. A plain script in the head, because it must run
// before anything is drawn: a page in the dark never flashes white. The switch asks with the event
// `themechoice`; `themechange` tells charts on canvas to take their colours anew.
(() => {
  const KEY = 'assay.theme';
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const kept = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // a browser that keeps nothing follows the system
    }
  };
  const apply = (choice) => {
    root.dataset.choice = choice === 'light' || choice === 'dark' ? choice : 'system';
    const isDark = root.dataset.choice === 'dark' || (root.dataset.choice === 'system' && system.matches);
    root.dataset.theme = isDark ? 'dark' : 'light';
    document.dispatchEvent(new Event('themechange'));
  };
  document.addEventListener('themechoice', ({detail}) => {
    try {
      localStorage.setItem(KEY, detail);
    } catch {
      // Then it holds for this visit.
    }
    apply(detail);
  });
  system.addEventListener('change', () => apply(root.dataset.choice));
  apply(kept());
})();
