import { Suspense, use } from 'react'
import type { LoaderArgs, VisitorArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page } from './tiny-app.tsx'

/** What the page of `slotted` gets. */
export interface SlottedData {
  readonly made: string
  readonly visitor: Promise<{ readonly name: string }>
}

/** A part that belongs to the visitor. */
export function Greeting({ visitor }: Pick<SlottedData, 'visitor'>) {
  return <b id="slot">visitor {use(visitor).name}</b>
}

const shown = page(({ data }: { data: SlottedData }) => (
  <main>
    <p id="shown">{data.made.padEnd(2_000, '.')}</p>
    <Suspense fallback={<i>wait</i>}>
      <Greeting visitor={data.visitor} />
    </Suspense>
  </main>
))

type VisitorOf = (args: VisitorArgs) => unknown

/** The name in the cookie `visitor`. */
export const nameInCookie: VisitorOf = ({ context }) => ({ name: context.cookie('visitor') ?? 'nobody' })

/** A kept page with a slot, whose loader counts. */
export function slotted(visitor: VisitorOf = nameInCookie, beside: (args: LoaderArgs) => unknown = () => undefined) {
  const state = { made: 0, visited: 0 }
  const loader = async (args: LoaderArgs) => {
    args.cache({ shared: { seconds: 60, staleSeconds: 60 }, tags: ['mills'] })
    state.made += 1
    const { made } = state
    await beside(args)
    return { made: `made ${made}` }
  }
  const counting: VisitorOf = (args) => {
    state.visited += 1
    return visitor(args)
  }
  return {
    state,
    route: { cache: 'shared' as const, page: shown, loader: moduleOf({ loader, visitor: counting }) },
  }
}

/** What a document says in its slot; `undefined` without one. */
export const slotOf = ({ text }: { text: string }): string | undefined =>
  />visitor (?:<!-- -->)?([^<]*)</.exec(text)?.[1]
