declare module 'undici/lib/dispatcher/pool.js' {
  /** The part of the package that is needed: its entry loads `fetch`, web sockets and caches as well: 27 MB, not 3. */
  export { Pool as default } from 'undici'
}
