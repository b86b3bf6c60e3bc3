declare module 'undici/lib/dispatcher/pool.js' {
  /** Declares only this file: the package's entry also loads `fetch`, web sockets and caches, 27 MB instead of 3. */
  export { Pool as default } from 'undici'
}
