import {
  Counter,
  Gauge,
  Histogram,
  type CounterConfiguration,
  type GaugeConfiguration,
  type HistogramConfiguration,
  type Registry,
} from '@prometheus-io/client'

/** Makes metrics of one registry. */
interface MetricMakers {
  counter<Label extends string>(options: CounterConfiguration<Label>): Counter<Label>
  gauge<Label extends string>(options: GaugeConfiguration<Label>): Gauge<Label>
  histogram<Label extends string>(options: HistogramConfiguration<Label>): Histogram<Label>
}

export function metricMakers(registry: Registry): MetricMakers {
  const registers = [registry]
  return {
    counter: (options) => new Counter({ ...options, registers }),
    gauge: (options) => new Gauge({ ...options, registers }),
    histogram: (options) => new Histogram({ ...options, registers }),
  }
}
