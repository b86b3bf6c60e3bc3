import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { PUBLIC_PATH } from '../build/build-options.ts'
import type { ModuleServer } from './module-server.ts'
import type { RawFrame } from './stack-frames.ts'

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/m

/** Translates positions in served modules into positions in their sources; leaves all others unchanged. */
export function locateInModules(root: string, { urls, served }: Pick<ModuleServer, 'urls' | 'served'>) {
  return (frame: RawFrame): RawFrame => {
    const path = URL.parse(frame.file)?.pathname ?? ''
    const key = path.startsWith(PUBLIC_PATH) ? urls.keyOf(path) : undefined
    const encoded = key === undefined ? undefined : INLINE_MAP.exec(served(key)?.code ?? '')?.[1]
    if (key === undefined || encoded === undefined) return frame
    const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')))
    const entry = map.findEntry(frame.line - 1, frame.column - 1)
    if (!('originalLine' in entry)) return frame
    return { ...frame, file: join(root, key), line: entry.originalLine + 1, column: entry.originalColumn + 1 }
  }
}
