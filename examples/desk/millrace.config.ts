import { readFile } from 'node:fs/promises'
import tailwindcss from '@tailwindcss/postcss'
import type { Plugin } from 'esbuild'
import { defineConfig } from 'millrace/build'
import postcss, { CssSyntaxError } from 'postcss'

const tailwind: Plugin = {
  name: 'tailwind',
  setup({ onLoad }) {
    const processor = postcss([tailwindcss()])
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      try {
        const { css, messages } = await processor.process(await readFile(path, 'utf8'), { from: path })
        const named = (type: string, name: string) =>
          messages.flatMap((message) => (message.type === type ? [String(message[name])] : []))
        return {
          contents: css,
          loader: 'css',
          watchFiles: named('dependency', 'file'),
          watchDirs: named('dir-dependency', 'dir'),
        }
      } catch (error) {
        if (!(error instanceof CssSyntaxError)) return { errors: [{ text: String(error), location: { file: path } }] }
        const { reason, file = path, line = 1, column = 1, source = '' } = error
        const lineText = source.split('\n')[line - 1] ?? ''
        return { errors: [{ text: reason, location: { file, line, column: column - 1, lineText } }] }
      }
    })
  },
}

export default defineConfig({ basePath: '/desk', plugins: { browser: [tailwind] } })
