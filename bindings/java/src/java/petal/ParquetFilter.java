package petal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A Bloom filter in a Parquet file: the filter for one column in one row group. */
public final class ParquetFilter {
    private final int rowGroup;
    private final int columnNumber;
    private final String physicalType;
    private final long offset;
    private final long bytes;
    private final boolean encrypted;
    private final String column;

    ParquetFilter(String[] words) {
        this.rowGroup = Integer.parseInt(words[0]);
        this.columnNumber = Integer.parseInt(words[1]);
        this.physicalType = words[2];
        this.offset = Long.parseLong(words[3]);
        this.bytes = Long.parseLong(words[4]);
        this.encrypted = words[5].equals("1");
        this.column = words[6];
    }

    /** From 0. */
    public int rowGroup() {
        return rowGroup;
    }

    /** The index of the leaf column, counted from 0. */
    public int columnNumber() {
        return columnNumber;
    }

    /** The column's physical type, such as "INT64" or "BYTE_ARRAY". Keys are in its plain
     * encoding. */
    public String physicalType() {
        return physicalType;
    }

    /** The filter's offset in the file, in bytes. */
    public long offset() {
        return offset;
    }

    /** The filter's size, in bytes. */
    public long bytes() {
        return bytes;
    }

    /** True if the column is encrypted, so the filter can't be read. */
    public boolean isEncrypted() {
        return encrypted;
    }

    /** The column's path in the schema. */
    public String column() {
        return column;
    }

    /**
     * Finds the Bloom filters in the bytes of a complete Parquet file, for example a mapped one. To
     * query a filter, pass {@code data.slice(offset, bytes)} to BloomFilter.view with the format
     * "parquet". A key may be in a column if the filter of any of its row groups contains it.
     */
    public static List<ParquetFilter> list(ByteBuffer data) throws IOException {
        ByteBuffer direct = data;
        if (!data.isDirect()) {
            direct = ByteBuffer.allocateDirect(data.remaining());
            direct.put(data.duplicate()).flip();
        }
        direct = direct.slice(); // other threads can't move this duplicate's position
        if (direct.hasRemaining()) direct.get(0); // throws if the memory was freed
        byte[] lines = Core.parquetFilters(direct, 0, direct.limit());
        List<ParquetFilter> filters = new ArrayList<>();
        Texts.string(lines).lines().forEach(
                line -> filters.add(new ParquetFilter(line.split(" ", 7))));
        return filters;
    }
}
