/**
 * Schemas for what visitors send: zod's, and those of every library that implements Standard Schema
 * (https://standardschema.dev), such as Valibot and ArkType.
 */

/** A schema of a library that implements Standard Schema, version 1. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The result of a Standard Schema: the value that it has made, or the errors that it has found. */
export type StandardResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** An error that a schema finds. */
export interface SchemaIssue {
  readonly message: string
  /** From the outermost member inwards; absent for an error of the whole value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema with the methods of zod's. */
export interface ZodSchema<Output = unknown> {
  readonly _output: Output
  safeParse(value: unknown): ZodResult
  safeParseAsync(value: unknown): Promise<ZodResult>
}

type ZodResult =
  | { success: true; data: unknown; error?: undefined }
  | { success: false; data?: undefined; error: { readonly issues: readonly SchemaIssue[] } }

/**
 * A schema for what visitors send: zod's, or that of any library that implements Standard Schema.
 * @typeParam Output what it makes of a valid value.
 */
export type Schema<Output = unknown> = ZodSchema<Output> | StandardSchema<Output>

/** What a schema makes of a valid value. */
export type SchemaOutput<Schema> = Schema extends { readonly _output: infer Output }
  ? Output
  : Schema extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : unknown
    : unknown

/** The outcome of a check: the schema's output, or faults. */
export type CheckedValue =
  | { readonly issues?: undefined; readonly value: unknown }
  | { readonly issues: readonly SchemaIssue[]; readonly value?: undefined }

/**
 * Checks a value at once where the schema can, otherwise by a promise.
 * @throws what the schema throws: that is not a fault of the value.
 */
export function checkValue(schema: Schema, value: unknown): CheckedValue | Promise<CheckedValue> {
  if (!isZod(schema)) return standardResult(schema['~standard'].validate(value))
  try {
    return zodResult(schema.safeParse(value))
  } catch (thrown) {
    // A refinement may be asynchronous: that shows only when it runs.
    if (typeof schema.safeParseAsync !== 'function') throw thrown
    return schema.safeParseAsync(value).then(zodResult)
  }
}

/** As `checkValue`, for schemas that may be asynchronous: runs none of their refinements twice. */
export async function checkValueAsync(schema: Schema, value: unknown): Promise<CheckedValue> {
  return isZod(schema)
    ? zodResult(await schema.safeParseAsync(value))
    : standardResult(schema['~standard'].validate(value))
}

/** Keys that lead to the member with the fault. */
export function issuePath({ path = [] }: SchemaIssue): readonly PropertyKey[] {
  return path.map((step) => (typeof step === 'object' ? step.key : step))
}

/** Whether a value is a schema. Those of some libraries are functions. */
export function isSchema(value: unknown): value is Schema {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    ('~standard' in value || isZod(value as Schema))
  )
}

function isZod(schema: Schema): schema is ZodSchema {
  return 'safeParse' in schema || 'safeParseAsync' in schema
}

function zodResult({ success, data, error }: ZodResult): CheckedValue {
  return success ? { value: data } : { issues: error.issues }
}

function standardResult(result: StandardResult | Promise<StandardResult>): CheckedValue | Promise<CheckedValue> {
  return 'then' in result ? Promise.resolve(result).then(checkedResult) : checkedResult(result)
}

function checkedResult(result: StandardResult): CheckedValue {
  return result.issues === undefined ? { value: result.value } : { issues: result.issues }
}
