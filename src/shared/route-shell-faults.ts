import { chainOf } from './route-chain.ts'
import type { RouteDefinitions } from './route-definition.ts'
import { RouteTableError } from './route-table-error.ts'

/**
 * Validates which pages are sent before their loader is done: nothing that decides about the answer may wait for it.
 * @throws {RouteTableError} for the first fault.
 */
export function checkShells(definitions: RouteDefinitions): void {
  for (const [key, { shell, page, loader, cache }] of Object.entries(definitions)) {
    if (shell === undefined) continue
    const fail = (kind: RouteTableError['kind'], rule: string, wayOut: string, outer = key): never => {
      throw new RouteTableError(kind, outer === key ? [key] : [outer, key], rule, wayOut)
    }
    if ((shell as string) !== 'early') {
      fail(
        'bad-shell',
        `shell: ${JSON.stringify(shell)} is not a value of this member`,
        "Write shell: 'early', or leave it out",
      )
    }
    if (!page || !loader) {
      fail(
        'early-without-loader',
        "shell: 'early' is for a page with a loader: there is nothing else to wait for",
        'Write it on the entry of the page whose loader takes long',
      )
    }
    if (cache !== undefined) {
      fail(
        'early-and-shared',
        "a page with cache: 'shared' is rendered completely before it is cached, so shell: 'early' cannot send a part of it",
        'Remove one of the two',
      )
    }
    const chain = chainOf(definitions, key)
    const guarded = chain.find(({ definition }) => definition.guard)
    if (guarded !== undefined) {
      fail(
        'early-behind-guard',
        "the guard decides about the status, so shell: 'early' cannot send 200 before it has",
        "Remove shell: 'early', or move the page out of the guarded entry",
        guarded.key,
      )
    }
    const layout = chain.findLastIndex(({ definition }) => definition.layout)
    if (chain.slice(Math.max(layout, 0)).some(({ definition }) => definition.loading)) continue
    const outer = chain.findLast(({ definition }) => definition.loading)
    fail(
      'early-without-loading',
      outer === undefined
        ? "shell: 'early' sends `loading` in the place of the page, but no entry has one"
        : `the layout of '${chain[layout]?.key}' is inside of this \`loading\`, so that shell: 'early' could not send it`,
      'Add `loading` to the entry of the page',
      outer?.key,
    )
  }
}

/**
 * What is wrong with a module of a page that is sent before its loader is done.
 * @param module the page's, or its loader's.
 * @returns the rule and the way out; `undefined` if nothing is.
 */
export function earlyModuleFault({ metadata, guards }: { metadata?: unknown; guards?: unknown }): string | undefined {
  const early =
    "while the entry says shell: 'early', which sends the head and status 200 before the loader is done. Remove"
  if (typeof metadata === 'function') {
    return `exports \`metadata\` as a function ${early} shell: 'early', or export constant metadata.`
  }
  if (guards === true) return `exports \`guards = true\` ${early} one of the two.`
  return undefined
}
