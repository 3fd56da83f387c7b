//go:build cgo && !petal_wasm

package petal

func openFile(path string, o *openOptions, data []byte) (uint64, origin, error) {
	w := o.words
	status, message := coreCall(opOpen, 0, 0, &w, data, nil)
	from := o.origin(path)
	from.mapped = Mode(o.words[0]&3) != Load
	return w[0], from, failure(status, message, &w, path)
}

func (f *Filter) saveFile(path string, _ *saveOptions, w *words, data []byte) error {
	status, message := coreCall(opSave, f.handle, 0, w, data, nil)
	return failure(status, message, w, path)
}
