/* theme.js - light or dark as the system prefers, until the reader uses the button; applied before
 * the first paint. A page without storage (some browsers, from file:) follows the system. */
(function () {
  var dark = matchMedia('(prefers-color-scheme: dark)');
  var chosen = null;
  try { chosen = localStorage.getItem('theme'); } catch (e) { /* follow the system */ }
  function apply() {
    document.documentElement.dataset.theme = chosen || (dark.matches ? 'dark' : 'light');
    dispatchEvent(new Event('theme'));
  }
  apply();
  dark.addEventListener('change', apply);
  addEventListener('DOMContentLoaded', function () {
    var button = document.getElementById('theme');
    if (!button) return;
    button.addEventListener('click', function () {
      chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
      try { localStorage.setItem('theme', chosen); } catch (e) { /* for this page only */ }
      apply();
    });
  });
})();
