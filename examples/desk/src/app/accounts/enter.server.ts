import { z } from 'zod'
import type { LoaderArgs, LoaderContext } from 'millrace/server'
import { findUser } from './users.server.ts'

const schema = z.object({ email: z.string(), to: z.string() })

/** What a link says, as long as it is valid; `to` is where its visitor wanted to go. */
export async function readLink({ secrets }: LoaderContext, token: string) {
  return schema.safeParse(await secrets.decrypt('link', token)).data
}

export const search = z.object({ token: z.string().max(2_000).catch('') })

export async function loader({ search: { token }, context }: LoaderArgs<'/[locale]/enter', z.output<typeof search>>) {
  const link = await readLink(context, token)
  return link && { token, email: link.email, isKnown: findUser(context, 'email', link.email) !== undefined }
}
