import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'
import { defineConfig } from 'millrace/build'
import { compileAsync, Exception, NodePackageImporter } from 'sass'

const sass: Plugin = {
  name: 'sass',
  setup({ onLoad }) {
    onLoad({ filter: /\.scss$/ }, async ({ path }) => {
      try {
        const { css, loadedUrls } = await compileAsync(path, { importers: [new NodePackageImporter()] })
        return { contents: css, loader: 'css', watchFiles: loadedUrls.map((url) => fileURLToPath(url)) }
      } catch (error) {
        if (!(error instanceof Exception)) throw error
        const { url, start, context } = error.span
        const file = relative(process.cwd(), url === undefined ? path : fileURLToPath(url))
        const location = { file, line: start.line + 1, column: start.column, lineText: context ?? '' }
        return { errors: [{ text: error.sassMessage, location }] }
      }
    })
  },
}

export default defineConfig({ plugins: { browser: [sass] } })
