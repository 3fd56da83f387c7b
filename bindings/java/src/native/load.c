/* load.c - loads the library, and converts the core's failures to Java's exceptions (Failure.java
 * chooses which). */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

static jclass failure;
static jmethodID failure_of;
jmethodID output_write;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
    jclass found = (*env)->FindClass(env, "petal/Failure");
    if (!found) return JNI_ERR;
    failure = (*env)->NewGlobalRef(env, found);
    failure_of = (*env)->GetStaticMethodID(env, found, "of", "(I[B[BIJ[BZ)Ljava/lang/Throwable;");
    if (!failure || !failure_of) return JNI_ERR;
    jclass output = (*env)->FindClass(env, "java/io/OutputStream");
    if (!output) return JNI_ERR;
    output_write = (*env)->GetMethodID(env, output, "write", "([BII)V");
    return output_write ? JNI_VERSION_10 : JNI_ERR;
}

jbyteArray bytes_of(JNIEnv *env, const char *text)
{
    if (!text) return NULL;
    jsize size = (jsize)strlen(text);
    jbyteArray array = (*env)->NewByteArray(env, size);
    if (array) (*env)->SetByteArrayRegion(env, array, 0, size, (const jbyte *)text);
    return array;
}

void *copy_of(JNIEnv *env, jbyteArray array, uint64_t *size)
{
    if (size) *size = 0;
    if (!array) return NULL;
    jsize length = (*env)->GetArrayLength(env, array);
    char *copy = malloc((size_t)length + 1);
    if (!copy) {
        fail_memory(env);
        return NULL;
    }
    (*env)->GetByteArrayRegion(env, array, 0, length, (jbyte *)copy);
    copy[length] = '\0';
    if (size) *size = (uint64_t)length;
    return copy;
}

void fail(JNIEnv *env, const petal_error *error, jbyteArray path, bool checked)
{
    jlong offset = error->offset == PETAL_NO_OFFSET ? -1 : (jlong)error->offset;
    jbyteArray name = bytes_of(env, petal_status_name(error->status));
    if (!name) return;
    jbyteArray message = bytes_of(env, error->message);
    if (!message) return;
    jobject thrown =
        (*env)->CallStaticObjectMethod(env, failure, failure_of, error->status, name, message,
                                       error->system_errno, offset, path, (jboolean)checked);
    if (!(*env)->ExceptionCheck(env) && thrown) (*env)->Throw(env, thrown);
}

void fail_memory(JNIEnv *env)
{
    petal_error error = {.status = PETAL_ERR_MEMORY, .offset = PETAL_NO_OFFSET};
    strcpy(error.message, "out of memory");
    fail(env, &error, NULL, false);
}

void throw_new(JNIEnv *env, const char *class_name, const char *message)
{
    jclass type = (*env)->FindClass(env, class_name);
    if (type) (*env)->ThrowNew(env, type, message);
}
