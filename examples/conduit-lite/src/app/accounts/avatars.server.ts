import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sendFile, type LoaderArgs } from 'millrace/server'

/** How files of each kind begin: what the browser says of them is a guess at best. */
const KINDS = { png: /^\x89PNG\r\n\x1a\n/, jpg: /^\xff\xd8\xff/, webp: /^RIFF[^]{4}WEBP/ } as const

export const folderIn = (dataDir: string): string => join(dataDir, 'avatars')

/** Another picture has another name, so browsers may keep this one for good. */
export async function GET({ params, context }: LoaderArgs<'/avatars/[file]'>): Promise<Response> {
  const response = await sendFile(params.file, { root: folderIn(context.dataDir) })
  response.headers.set('Cache-Control', 'public, max-age=31536000, immutable')
  return response
}

/** @returns the name under which the picture is served from now on, or `undefined` if the file is not a picture. */
export async function keepAvatar(dataDir: string, file: File): Promise<string | undefined> {
  const bytes = Buffer.from(await file.arrayBuffer())
  const [kind] = Object.entries(KINDS).find(([, start]) => start.test(bytes.toString('latin1', 0, 16))) ?? []
  if (kind === undefined) return undefined
  const name = `${randomUUID()}.${kind}`
  await mkdir(folderIn(dataDir), { recursive: true })
  await writeFile(join(folderIn(dataDir), name), bytes, { flag: 'wx', mode: 0o600 })
  return name
}
