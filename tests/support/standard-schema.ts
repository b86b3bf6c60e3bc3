import type { StandardResult, StandardSchema } from '../../src/shared/schema.ts'

/** How a stand-in for a schema library checks. */
type SchemaManner = 'at once' | 'later' | 'as a function'

/**
 * A schema as another library than zod makes it: `at once` like Valibot, `later` with a promise, `as a function` like
 * ArkType.
 */
export function standardSchema<Output>(
  check: (value: unknown) => { readonly value: Output } | { readonly message: string; readonly path?: string },
  manner: SchemaManner = 'at once',
): StandardSchema<Output> {
  const judge = (value: unknown): StandardResult => {
    const checked = check(value)
    if ('value' in checked) return checked
    const { message, path } = checked
    return { issues: [{ message, ...(path === undefined ? {} : { path: [{ key: path }] }) }] }
  }
  const validate = manner === 'later' ? async (value: unknown) => judge(value) : judge
  const schema = { '~standard': { version: 1 as const, vendor: 'stand-in', validate } }
  return manner === 'as a function' ? Object.assign(() => undefined, schema) : schema
}

/** `{ page }` as a number from 1. */
export const pageSchema = (manner?: SchemaManner) =>
  standardSchema<{ readonly page: number }>((value) => {
    const page = Number((value as Readonly<Record<string, unknown>>)['page'] ?? 1)
    return page >= 1 ? { value: { page } } : { message: 'is not a page', path: 'page' }
  }, manner)

/** `{ id }` as a number. */
export const idSchema = (manner?: SchemaManner) =>
  standardSchema<{ readonly id: number }>((value) => {
    const id = Number((value as Readonly<Record<string, unknown>>)['id'])
    return Number.isInteger(id) ? { value: { id } } : { message: 'is not an id', path: 'id' }
  }, manner)
