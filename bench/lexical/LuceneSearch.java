import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.MMapDirectory;

/**
 * Lucene in a process that reads commands, one per line. It answers each command with one line,
 * whose content is stated here after the colon:
 *
 * <pre>
 *   index FOLDER FILE    indexes each line of the file as a text, in one segment: bytes on disk
 *   queries N OCCUR      reads N queries, one per line, as words, which MUST or SHOULD occur:
 *                        number of queries
 *   search LIMIT         runs each query once: nanoseconds of each query
 * </pre>
 */
public class LuceneSearch {
  public static void main(String[] arguments) throws Exception {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    IndexSearcher.setDefaultQueryCache(null);
    IndexSearcher searcher = null;
    List<Query> queries = new ArrayList<>();
    for (String line; (line = input.readLine()) != null; ) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "index" -> {
          Path folder = Path.of(words[1]);
          if (!Files.exists(folder)) index(folder, Path.of(words[2]));
          System.out.println(sizeOf(folder));
          searcher = new IndexSearcher(DirectoryReader.open(new MMapDirectory(folder)));
        }
        case "queries" -> {
          queries.clear();
          for (int i = Integer.parseInt(words[1]); i > 0; i--)
            queries.add(queryOf(input.readLine().split(" "), Occur.valueOf(words[2])));
          System.out.println(queries.size());
        }
        default -> {
          int limit = Integer.parseInt(words[1]);
          StringBuilder times = new StringBuilder();
          for (Query query : queries) {
            long start = System.nanoTime();
            searcher.search(query, limit);
            times.append(System.nanoTime() - start).append(' ');
          }
          System.out.println(times.toString().trim());
        }
      }
    }
  }

  private static void index(Path folder, Path file) throws Exception {
    FieldType type = new FieldType();
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    type.setTokenized(true);
    type.freeze();
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    try (IndexWriter writer = new IndexWriter(FSDirectory.open(folder), config);
        BufferedReader texts = Files.newBufferedReader(file)) {
      for (String text; (text = texts.readLine()) != null; ) {
        Document document = new Document();
        document.add(new Field("text", text, type));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  private static Query queryOf(String[] words, Occur occur) {
    if (words.length == 1) return new TermQuery(new Term("text", words[0]));
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (String word : words)
      query.add(new TermQuery(new Term("text", word)), occur);
    return query.build();
  }

  private static long sizeOf(Path folder) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }
}
