import type { Plugin } from 'esbuild'

const NAME = 'node:http'

/**
 * Has Node's HTTP module required where the sources import it. An import reads all that a module exports, and three of the
 * names of this one bring Node's HTTP client along, with HTTP/2 and web streams: 14 MiB of each server, most of which never
 * ask anybody.
 */
export function requiredHttp(): Plugin {
  return {
    name: 'required-http',
    setup(build) {
      build.onResolve({ filter: /^node:http$/ }, ({ kind }) =>
        kind === 'import-statement' ? { path: NAME, namespace: 'required' } : { path: NAME, external: true },
      )
      build.onLoad({ filter: /^node:http$/, namespace: 'required' }, () => ({
        contents: `module.exports = require('${NAME}')`,
        loader: 'js',
      }))
    },
  }
}
