import java.io.Serializable;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.time.Duration;
import java.util.Hashtable;
import java.util.concurrent.Callable;
import javax.naming.Context;
import javax.naming.InitialContext;

/** Real failures of Java's own naming, RMI and network classes; each printed as a program prints it. */
public class Failures {
    /** What a client waits for a server that answers, and for one that never will, in milliseconds. */
    static final int LONG = 30_000, SHORT = 300;

    public interface Till extends Remote {
        String sell(Object what) throws RemoteException;
    }

    static class Drawer implements Till {
        public String sell(Object what) {
            throw new IllegalStateException("the drawer is stuck");
        }
    }

    static class Unserializable implements Serializable {
        private void writeObject(java.io.ObjectOutputStream out) throws java.io.IOException {
            throw new java.io.NotSerializableException("Unserializable");
        }
    }

    static void show(String name, Callable<?> call) {
        System.out.println("== " + name);
        try {
            System.out.println("no failure: " + call.call());
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
        }
        System.out.flush();
    }

    static Object lookup(String factory, String url, String name, int limit) throws Exception {
        Hashtable<String, String> environment = new Hashtable<>();
        if (factory != null) environment.put(Context.INITIAL_CONTEXT_FACTORY, factory);
        environment.put(Context.PROVIDER_URL, url);
        environment.put("com.sun.jndi.ldap.connect.timeout", "" + limit);
        environment.put("com.sun.jndi.ldap.read.timeout", "" + limit);
        Context context = new InitialContext(environment);
        try {
            return context.lookup(name);
        } finally {
            context.close();
        }
    }

    static Object exchange(int port, int limit) throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), limit);
            socket.setSoTimeout(limit);
            socket.getOutputStream().write(1);
            int answer = socket.getInputStream().read();
            if (answer < 0) throw new java.io.EOFException("hung up");
            return answer;
        }
    }

    static Object http(String url, int connect, int answer) throws Exception {
        HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofMillis(connect)).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofMillis(answer)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    public static void main(String[] ports) throws Exception {
        int closed = Integer.parseInt(ports[0]), frozen = Integer.parseInt(ports[1]), resetting = Integer.parseInt(ports[2]);
        int hangingUp = Integer.parseInt(ports[3]), http = Integer.parseInt(ports[4]), full = Integer.parseInt(ports[5]);
        String rmi = "com.sun.jndi.rmi.registry.RegistryContextFactory", ldap = "com.sun.jndi.ldap.LdapCtxFactory";

        show("no-provider", () -> new InitialContext().lookup("orders"));
        show("no-such-provider", () -> lookup("com.example.NoSuchFactory", "x://h", "orders", LONG));
        show("rmi-closed", () -> lookup(rmi, "rmi://127.0.0.1:" + closed, "orders", LONG));
        show("rmi-name", () -> lookup(rmi, "rmi://no-such-host.invalid", "orders", LONG));
        show("rmi-not-rmi", () -> lookup(rmi, "rmi://127.0.0.1:" + http, "orders", LONG));
        show("rmi-hanging-up", () -> lookup(rmi, "rmi://127.0.0.1:" + hangingUp, "orders", LONG));
        show("ldap-closed", () -> lookup(ldap, "ldap://127.0.0.1:" + closed, "cn=orders", LONG));
        show("ldap-name", () -> lookup(ldap, "ldap://no-such-host.invalid", "cn=orders", LONG));
        show("ldap-full", () -> lookup(ldap, "ldap://127.0.0.1:" + full, "cn=orders", SHORT));
        show("ldap-frozen", () -> lookup(ldap, "ldap://127.0.0.1:" + frozen, "cn=orders", SHORT));
        show("ldap-hanging-up", () -> lookup(ldap, "ldap://127.0.0.1:" + hangingUp, "cn=orders", LONG));
        show("ldap-resetting", () -> lookup(ldap, "ldap://127.0.0.1:" + resetting, "cn=orders", LONG));
        show("ldaps-plain", () -> lookup(ldap, "ldaps://127.0.0.1:" + http, "cn=orders", LONG));
        show("url-list", () -> new java.net.URL("http://a:1,b:2/"));
        show("socket-closed", () -> exchange(closed, LONG));
        show("socket-full", () -> exchange(full, SHORT));
        show("socket-frozen", () -> exchange(frozen, SHORT));
        show("socket-resetting", () -> exchange(resetting, LONG));
        show("socket-hanging-up", () -> exchange(hangingUp, LONG));
        show("http-closed", () -> http("http://127.0.0.1:" + closed + "/", LONG, LONG));
        show("http-full", () -> http("http://127.0.0.1:" + full + "/", SHORT, LONG));
        show("http-frozen", () -> http("http://127.0.0.1:" + frozen + "/", LONG, SHORT));
        show("http-resetting", () -> http("http://127.0.0.1:" + resetting + "/", LONG, LONG));
        show("https-plain", () -> http("https://127.0.0.1:" + http + "/", LONG, LONG));

        Registry registry = LocateRegistry.createRegistry(0);
        Drawer drawer = new Drawer();
        Till till = (Till) UnicastRemoteObject.exportObject(drawer, 0);
        show("rmi-not-bound", () -> registry.lookup("orders"));
        show("rmi-application", () -> till.sell("tea"));
        show("rmi-arguments", () -> till.sell(new Unserializable()));
        UnicastRemoteObject.unexportObject(drawer, true);
        show("rmi-stale", () -> till.sell("tea"));
        UnicastRemoteObject.unexportObject(registry, true);
        System.exit(0);
    }
}
