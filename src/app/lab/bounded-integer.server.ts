import { z } from 'zod'

/**
 * A search parameter that is a whole number. What is outside the bounds is moved to the nearer one; what is missing,
 * repeated or not a number counts as `fallback`. It never fails.
 * @param bounds both inclusive.
 */
export function boundedInteger(bounds: { readonly min: number; readonly max: number; readonly fallback: number }) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform((digits) => Math.min(bounds.max, Math.max(bounds.min, Number(digits))))
    .catch(bounds.fallback)
}
