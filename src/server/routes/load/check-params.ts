import { notFound } from '../../../shared/control-flow.ts'
import { checkValueAsync, type Schema } from '../../../shared/schema.ts'
import { ignoreRejections } from '../../values/find-promises.ts'
import type { LoaderArgs } from '../../api/loader-types.ts'

/**
 * What a module's own schema makes of the params.
 * @throws the signal of `notFound()` for params that the schema refuses: such a path names nothing.
 */
export async function checkParams(schema: Schema, params: LoaderArgs['params']): Promise<unknown> {
  const checked = await checkValueAsync(schema, params)
  return checked.issues === undefined ? ignoreRejections(checked.value) : notFound()
}
