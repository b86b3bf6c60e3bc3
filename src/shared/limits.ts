/** Bounds that more than one file must agree on. Each carries its unit and reason. */

/** Longest request target in bytes (contract, section 4): above it 414. Browsers and proxies cope with 8 KiB. */
export const MAX_TARGET_BYTES = 8_192
