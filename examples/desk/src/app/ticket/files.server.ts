import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { notFound, sendFile, type LoaderArgs } from 'millrace/server'
import { commentsOf, type SavedFile } from '../tickets/store.server.ts'
import { findForVisitor } from './ticket.server.ts'

/** Writes the files of a form. Where one fails, for instance because it is too large, none is left. */
export async function saveFiles(dataDir: string, uploads: AsyncIterable<{ name: string; stream: Readable }>) {
  const folder = join(dataDir, 'files')
  await mkdir(folder, { recursive: true })
  const saved: SavedFile[] = []
  try {
    for await (const { name, stream } of uploads) {
      const file = { id: randomUUID(), name: name.slice(0, 200) }
      saved.push(file)
      await pipeline(stream, createWriteStream(join(folder, file.id)))
    }
    return saved
  } catch (error) {
    await Promise.all(saved.map(({ id }) => rm(join(folder, id), { force: true })))
    throw error
  }
}

export async function GET({ params, context }: LoaderArgs<'/[locale]/tickets/[id]/files/[file]'>) {
  const { ticket } = await findForVisitor(context, params.id)
  const files = commentsOf(context, ticket).flatMap((comment) => comment.files)
  const { id, name } = files.find((file) => file.id === params.file) ?? notFound()
  return sendFile(id, { root: join(context.dataDir, 'files'), download: name })
}
