const state = { centimetres: 40 }

export function readGauge() {
  return { centimetres: state.centimetres++ }
}
