package admin;

import de.codecentric.boot.admin.server.config.EnableAdminServer;
import de.codecentric.boot.admin.server.web.client.HttpHeadersProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;

/** Spring Boot Admin as it comes; it shows its key (API_KEY) to the services that it watches. */
@SpringBootApplication
@EnableAdminServer
public class AdminServer {

  public static void main(String[] args) {
    SpringApplication.run(AdminServer.class, args);
  }

  @Bean
  HttpHeadersProvider apiKey() {
    return instance -> {
      HttpHeaders headers = new HttpHeaders();
      headers.setBearerAuth(System.getenv("API_KEY"));
      return headers;
    };
  }
}
