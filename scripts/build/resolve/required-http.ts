import type { Plugin } from 'esbuild'

const NAME = 'node:http'

/**
 * Makes the bundle `require` Node's HTTP module instead of importing it. An import reads all exports, and three of them
 * load Node's HTTP client, with HTTP/2 and web streams: 14 MiB for each server, most of which never send a request.
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
