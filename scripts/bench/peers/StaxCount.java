import java.io.BufferedInputStream;
import java.io.FileInputStream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;

/** StaxCount FILE: parses with the StAX reader of the JDK; prints what it found as JSON. */
public final class StaxCount {
  public static void main(String[] args) throws Exception {
    long elements = 0;
    long attributes = 0;
    long characters = 0;
    long started = System.nanoTime();
    XMLInputFactory factory = XMLInputFactory.newFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    try (BufferedInputStream file = new BufferedInputStream(new FileInputStream(args[0]), 65536)) {
      XMLStreamReader reader = factory.createXMLStreamReader(file);
      while (reader.hasNext()) {
        int event = reader.next();
        if (event == XMLStreamConstants.START_ELEMENT) {
          elements++;
          attributes += reader.getAttributeCount();
        } else if (event == XMLStreamConstants.CHARACTERS) {
          characters += reader.getTextLength();
        }
      }
    }
    double seconds = (System.nanoTime() - started) / 1e9;
    System.out.println("{\"seconds\":" + seconds + ",\"elements\":" + elements + ",\"attributes\":" + attributes
        + ",\"characters\":" + characters + "}");
  }
}
