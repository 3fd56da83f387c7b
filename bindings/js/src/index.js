// index.js - the package's exports.
export { Filter, formats, recognize, shardOf } from './filter.js';
export { PetalError } from './errors.js';
export { f32, f64, i32, i64, utf16 } from './keys.js';
export { RangeFilter } from './range.js';
export { HostedFilter } from './hosting.js';
