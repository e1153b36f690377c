import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.QueryBuilder;

/**
 * Ranks texts for queries by Lucene's BM25 with its analyzer for English. A text matches if it has
 * any term of the query.
 *
 * <pre>
 *   LuceneRanking TEXTS QUERIES LIMIT
 * </pre>
 *
 * Both files have one text or query per line. For each query, prints a line with the numbers of the
 * best texts, best first, counted from 0.
 */
public class LuceneRanking {
  public static void main(String[] arguments) throws Exception {
    Analyzer analyzer = new EnglishAnalyzer();
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(analyzer));
        BufferedReader texts = Files.newBufferedReader(Path.of(arguments[0]))) {
      for (String text; (text = texts.readLine()) != null; ) {
        Document document = new Document();
        document.add(new TextField("text", text, Field.Store.NO));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
    QueryBuilder builder = new QueryBuilder(analyzer);
    int limit = Integer.parseInt(arguments[2]);
    List<String> lines = new ArrayList<>();
    for (String text : Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8)) {
      Query query = builder.createBooleanQuery("text", text);
      ScoreDoc[] found =
          query == null ? new ScoreDoc[0] : searcher.search(query, limit).scoreDocs;
      lines.add(
          Arrays.stream(found).map(one -> String.valueOf(one.doc)).collect(Collectors.joining(" ")));
    }
    System.out.println(String.join("\n", lines));
  }
}
